// Waiting between two requests. A hidden page sends none until it is visible again.

/** Waits for a time, and then until the page is visible. Ends at once when the signal aborts, which the caller checks. */
export function pause(millis, signal) {
  return new Promise((resolve) => {
    let timer = 0;
    const end = () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const seen = () => {
      if (!document.hidden) {
        end();
      }
    };
    if (signal.aborted) {
      resolve();
      return;
    }
    signal.addEventListener('abort', end);
    timer = setTimeout(() => {
      if (document.hidden) {
        document.addEventListener('visibilitychange', seen);
      } else {
        end();
      }
    }, millis);
  });
}
