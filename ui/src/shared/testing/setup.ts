import '@testing-library/jest-dom/vitest';
import { notifications } from '@mantine/notifications';
import { act, cleanup, configure } from '@testing-library/react';
import { keepSession } from '../api/session';
import { noteAnswer } from '../api/silence';
import { server } from './server';

configure({ asyncUtilTimeout: 60_000 }); // how long `find…` waits: many may run at once on a small machine

// what pages ask a browser for and jsdom does not have
window.matchMedia = query =>
  Object.assign(new EventTarget(), { matches: false, media: query, onchange: null }) as unknown as MediaQueryList;
window.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
// text fields that grow look whether the fonts are there
Object.defineProperty(document, 'fonts', { configurable: true, value: new EventTarget() });
Element.prototype.scrollIntoView = () => undefined;
Element.prototype.checkVisibility = () => true;
Object.assign(URL, { createObjectURL: () => 'blob:here', revokeObjectURL: () => undefined });
// pictures are drawn on it, and nobody looks at them here
const nothing: unknown = new Proxy(() => undefined, { get: (_, name) => (name === 'width' ? 0 : nothing) });
HTMLCanvasElement.prototype.getContext = () => nothing as null;
Object.assign(window, {
  Path2D: class {
    rect() {}
    moveTo() {}
    lineTo() {}
    arc() {}
    closePath() {}
  },
});
// rows of virtual lists are laid out by these
for (const [side, value] of Object.entries({
  offsetHeight: 600,
  clientHeight: 600,
  offsetWidth: 800,
  clientWidth: 800,
}))
  Object.defineProperty(HTMLElement.prototype, side, { configurable: true, value });

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
// files of tests share their modules: nothing that a test has changed may be left for the next file
afterEach(() => {
  act(() => notifications.clean());
  cleanup();
  server.resetHandlers();
  localStorage.clear();
  sessionStorage.clear();
  keepSession(null);
  noteAnswer();
});
afterAll(() => server.close());
