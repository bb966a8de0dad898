package io.millrace.proxy.admin;

import java.util.ArrayList;
import java.util.List;

/**
 * Counts the requests that change state and have no answer yet. A process that exits waits for these requests. A client
 * without an answer could not know whether its change was made. Confined to one event loop.
 */
final class ChangesInProgress {
    private final List<Runnable> waiting = new ArrayList<>();
    private int count;

    void began() {
        count++;
    }

    void ended() {
        count--;
        if (count == 0) {
            List<Runnable> all = List.copyOf(waiting);
            waiting.clear();
            all.forEach(Runnable::run);
        }
    }

    /** Runs an action when no change is in progress: now, or at the end of the last one. */
    void whenNone(Runnable action) {
        if (count == 0) {
            action.run();
        } else {
            waiting.add(action);
        }
    }
}
