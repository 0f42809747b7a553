import type { Message } from '@/shared/data/conversations/messages';
import { isOnWay, viewAt, viewFor, viewOf } from './view';

const message = (id: number, on_thread = true) => ({ id, on_thread }) as Message;
const loaded = [message(40), message(41), message(42)];

describe('what is loaded of a conversation', () => {
  it('is its end, or what is around the message of the address', () => {
    expect(viewOf(null)).toEqual({ message: null, around: null, show: 'end' });
    expect(viewOf(7)).toEqual({ message: 7, around: 7, show: 'message' });
  });

  it('stays for a message in it, and is loaded anew for another one', () => {
    expect(viewFor(41, viewOf(42), loaded)).toEqual({ message: 41, around: 42, show: 'message' });
    expect(viewFor(7, viewOf(42), loaded)).toEqual(viewOf(7));
    expect(viewFor(null, viewOf(42), loaded)).toEqual(viewOf(null));
  });

  it('is one of its ends on demand, whatever the address says', () => {
    expect(viewAt('start', viewOf(42))).toEqual({ message: 42, around: 0, show: 'start' });
    expect(viewAt('end', viewOf(42))).toEqual({ message: 42, around: null, show: 'end' });
  });
});

describe('a branch', () => {
  it('is on the way where its first message is loaded', () => {
    expect(isOnWay(41, true, loaded)).toBe(true);
    expect(isOnWay(43, false, [...loaded, message(43, false)])).toBe(true);
  });

  it('is on the way where the thread is, in front of what is loaded and behind it', () => {
    expect(isOnWay(1, true, loaded)).toBe(true);
    expect(isOnWay(90, true, loaded)).toBe(true);
    expect(isOnWay(90, false, loaded)).toBe(false);
  });

  it('is not on a way that has left the thread', () => {
    expect(isOnWay(90, true, [message(40), message(80, false)])).toBe(false);
    expect(isOnWay(1, true, [message(80, false)])).toBe(false);
    expect(isOnWay(1, true, [])).toBe(false);
  });
});
