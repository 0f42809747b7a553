/** Waits so long, or until the signal ends; `onBegin` is called unless it has ended before. */
export function pause(ms: number, signal: AbortSignal, onBegin?: () => void): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) {
      resolve();
      return;
    }
    onBegin?.();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
