package io.millrace.proxy.exchange;

import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The followers that wait for the response head of a fetch. They are the leader, which began the fetch, and the
 * exchanges that joined the fetch. Each follower is called on its own event loop.
 *
 * <p>Confined to the fetch's event loop.
 */
final class FetchFollowers {
    private final EventExecutor loop;
    private final List<FetchFollower> waiting = new ArrayList<>(1);

    private @Nullable FetchFollower leader;

    FetchFollowers(EventExecutor loop) {
        this.loop = loop;
    }

    /** Adds the exchange that began the fetch. */
    void addLeader(FetchFollower first) {
        leader = first;
        waiting.add(first);
    }

    void add(FetchFollower follower) {
        waiting.add(follower);
    }

    /** Removes a follower. Returns true if it was waiting and no other follower is left. */
    boolean remove(FetchFollower follower) {
        if (leader == follower) {
            leader = null;
        }
        return waiting.remove(follower) && waiting.isEmpty();
    }

    boolean isLeader(FetchFollower follower) {
        return leader == follower;
    }

    /** Returns true if any follower waits besides the leader. */
    boolean hasFollowers() {
        return waiting.size() > 1 || (waiting.size() == 1 && waiting.get(0) != leader);
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Removes and returns the follower that has waited longest. */
    FetchFollower next() {
        return waiting.remove(0);
    }

    /** Removes and returns all followers. */
    List<FetchFollower> takeAll() {
        List<FetchFollower> all = List.copyOf(waiting);
        waiting.clear();
        return all;
    }

    /** Calls the leader, unless it has left. */
    void notifyLeader(Consumer<FetchFollower> event) {
        FetchFollower first = leader;
        if (first != null) {
            notifyFollower(first, event);
        }
    }

    /** Calls all followers except the leader. */
    void notifyJoined(Consumer<FetchFollower> event) {
        for (int i = 0; i < waiting.size(); i++) {
            if (waiting.get(i) != leader) {
                notifyFollower(waiting.get(i), event);
            }
        }
    }

    /** Calls a follower on its event loop. An exception ends the exchange of that follower only. */
    void notifyFollower(FetchFollower follower, Consumer<FetchFollower> event) {
        if (follower.followerLoop() == loop) {
            run(follower, event);
        } else {
            follower.followerLoop().execute(() -> run(follower, event));
        }
    }

    private static void run(FetchFollower follower, Consumer<FetchFollower> event) {
        try {
            event.accept(follower);
        } catch (RuntimeException | Error e) {
            follower.onFault(e);
        }
    }
}
