import { storedText } from '@/shared/settings/storage';

const kept = storedText('mnemoirSingleKeys');

/** Whether letters and signs without Ctrl are shortcuts; kept in this browser, on until it is switched off. */
export const singleKeys = {
  isOn: () => kept.read() !== 'off',
  useOn: () => kept.use() !== 'off',
  turn: (isOn: boolean) => kept.write(isOn ? null : 'off'),
};
