package io.millrace.proxy.exchange;

import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for the head of a leg's response: the exchange that began the leg, its leader, and those that joined. Each is called
 * on its own loop.
 *
 * <p>Confined to the leg's event loop.
 */
final class LegWaiters {
    private final EventExecutor loop;
    private final List<LegWaiter> waiting = new ArrayList<>(1);

    private @Nullable LegWaiter leader;

    LegWaiters(EventExecutor loop) {
        this.loop = loop;
    }

    /** Enters the exchange that began the leg. */
    void lead(LegWaiter first) {
        leader = first;
        waiting.add(first);
    }

    void add(LegWaiter waiter) {
        waiting.add(waiter);
    }

    /** Takes one out; true when it waited and nobody is left. */
    boolean removeLast(LegWaiter waiter) {
        if (leader == waiter) {
            leader = null;
        }
        return waiting.remove(waiter) && waiting.isEmpty();
    }

    boolean isLeader(LegWaiter waiter) {
        return leader == waiter;
    }

    /** Whether somebody waits besides the exchange that began the leg. */
    boolean hasFollowers() {
        return waiting.size() > 1 || (waiting.size() == 1 && waiting.get(0) != leader);
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Takes out the one that has waited longest. */
    LegWaiter next() {
        return waiting.remove(0);
    }

    /** Takes out all. */
    List<LegWaiter> takeAll() {
        List<LegWaiter> all = List.copyOf(waiting);
        waiting.clear();
        return all;
    }

    /** Tells the leader, unless it has left. */
    void tellLeader(Consumer<LegWaiter> event) {
        LegWaiter first = leader;
        if (first != null) {
            tell(first, event);
        }
    }

    /** Tells everybody who joined. */
    void tellFollowers(Consumer<LegWaiter> event) {
        for (int i = 0; i < waiting.size(); i++) {
            if (waiting.get(i) != leader) {
                tell(waiting.get(i), event);
            }
        }
    }

    /** Calls a waiter on its loop; its fault ends that waiter's exchange, not what the others get. */
    void tell(LegWaiter waiter, Consumer<LegWaiter> event) {
        if (waiter.waiterLoop() == loop) {
            run(waiter, event);
        } else {
            waiter.waiterLoop().execute(() -> run(waiter, event));
        }
    }

    private static void run(LegWaiter waiter, Consumer<LegWaiter> event) {
        try {
            event.accept(waiter);
        } catch (RuntimeException | Error e) {
            waiter.onFault(e);
        }
    }
}
