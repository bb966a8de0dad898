package io.millrace.proxy.exchange;

import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for the head of a fetch's response: the exchange that began the fetch, its leader, and those that joined. Each is called
 * on its own loop.
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

    /** Enters the exchange that began the fetch. */
    void lead(FetchFollower first) {
        leader = first;
        waiting.add(first);
    }

    void add(FetchFollower follower) {
        waiting.add(follower);
    }

    /** Takes one out; true when it waited and nobody is left. */
    boolean removeLast(FetchFollower follower) {
        if (leader == follower) {
            leader = null;
        }
        return waiting.remove(follower) && waiting.isEmpty();
    }

    boolean isLeader(FetchFollower follower) {
        return leader == follower;
    }

    /** Whether somebody waits besides the exchange that began the fetch. */
    boolean hasFollowers() {
        return waiting.size() > 1 || (waiting.size() == 1 && waiting.get(0) != leader);
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Takes out the one that has waited longest. */
    FetchFollower next() {
        return waiting.remove(0);
    }

    /** Takes out all. */
    List<FetchFollower> takeAll() {
        List<FetchFollower> all = List.copyOf(waiting);
        waiting.clear();
        return all;
    }

    /** Tells the leader, unless it has left. */
    void tellLeader(Consumer<FetchFollower> event) {
        FetchFollower first = leader;
        if (first != null) {
            tell(first, event);
        }
    }

    /** Tells everybody who joined. */
    void tellFollowers(Consumer<FetchFollower> event) {
        for (int i = 0; i < waiting.size(); i++) {
            if (waiting.get(i) != leader) {
                tell(waiting.get(i), event);
            }
        }
    }

    /** Calls a follower on its loop; its fault ends that follower's exchange, not what the others get. */
    void tell(FetchFollower follower, Consumer<FetchFollower> event) {
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
