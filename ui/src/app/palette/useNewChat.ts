import { useNavigate } from 'react-router';

/** Begins a chat: its page, with the focus where one writes. */
export function useNewChat() {
  const navigate = useNavigate();
  return async () => {
    await navigate('/');
    document.querySelector<HTMLElement>('main [data-autofocus]')?.focus();
  };
}
