package io.millrace.proxy.memory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The clients of one event loop that have bytes to take, and the rule which of them are closed when something is scarce.
 *
 * <p>Clients that take nothing are closed before clients that take something, the longest silent first. A client that takes
 * something is closed for memory only, while the budget is full, the slowest first.
 *
 * <p>Confined to its event loop.
 */
public final class SlowClients {
    /** A client is silent when it took nothing for so long, while memory is tight. */
    static final long SILENT_TIGHT_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** The same while memory is full. */
    static final long SILENT_FULL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** The same where requests wait for the origin connection that the client holds. */
    static final long SILENT_AWAITED_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The same where few connections to that origin are left. */
    static final long SILENT_CROWDED_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** A client that takes something is closed for memory after so long at the earliest: before, its rate is unknown. */
    static final long RATE_KNOWN_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** One in this many clients is closed at a time at least. */
    private static final int CLOSED_PART = 8;

    /** How much others want the origin connection that a client's response holds. */
    public enum OriginDemand {
        /** It holds none, or there are enough. */
        NONE,
        /** Three quarters of the allowed connections carry requests. */
        CROWDED,
        /** Requests wait for one. */
        AWAITED
    }

    /** A connection whose client has bytes to take. */
    public interface Client {
        /** Time since the client took anything, in ns. */
        long silentNanos(long nowNanos);

        /** Time since the client has had bytes to take without a pause, in ns. */
        long behindNanos(long nowNanos);

        /** Bytes a second that the client took in that time. */
        long bytesPerSecond(long nowNanos);

        /** How much others want the origin connection behind the response. */
        OriginDemand originDemand();

        /** Closes the connection. What it holds is released before this returns. */
        void closeSlow(SlowReason reason);
    }

    private record Candidate(Client client, long silentNanos, long bytesPerSecond) {}

    private static final Comparator<Candidate> LONGEST_SILENT_FIRST =
            Comparator.comparingLong(Candidate::silentNanos).reversed();
    private static final Comparator<Candidate> SLOWEST_FIRST = Comparator.comparingLong(Candidate::bytesPerSecond);

    private final LoopMemory memory;
    private final int loops;
    private final LongSupplier rateMin;
    private final Consumer<SlowReason> onClosed;
    private final List<Client> behind = new ArrayList<>();

    /**
     * @param loops event loops of the proxy, which share what has to be closed
     * @param rateMin bytes a second that every client has to take, 0 for none
     * @param onClosed is told of each client that is closed
     */
    public SlowClients(LoopMemory memory, int loops, LongSupplier rateMin, Consumer<SlowReason> onClosed) {
        this.memory = memory;
        this.loops = loops;
        this.rateMin = rateMin;
        this.onClosed = onClosed;
    }

    /** Bytes a second that every client has to take, 0 for none. */
    public long rateMin() {
        return rateMin.getAsLong();
    }

    /** Closes a client. */
    public void close(Client client, SlowReason reason) {
        onClosed.accept(reason);
        client.closeSlow(reason);
    }

    /** Adds a client that has bytes to take; to be followed by {@link #closeSome}. */
    public void add(Client client) {
        behind.add(client);
    }

    /** Closes as many as the present scarcity asks for, and forgets all that were added. */
    public void closeSome(long nowNanos) {
        try {
            memory.measure();
            memory.shared().measureBesides();
            if (behind.isEmpty()) {
                return;
            }
            List<Candidate> silent = silent(nowNanos);
            closeForOrigins(silent);
            MemoryLevel level = memory.level();
            if (level.isAtLeast(MemoryLevel.TIGHT)) {
                closeForMemory(level, silent, nowNanos);
            }
        } finally {
            behind.clear();
        }
    }

    /** Those that took nothing for a while, the longest silent first. */
    private List<Candidate> silent(long nowNanos) {
        List<Candidate> silent = new ArrayList<>();
        for (Client client : behind) {
            long nanos = client.silentNanos(nowNanos);
            if (nanos >= SILENT_FULL_NANOS) {
                silent.add(new Candidate(client, nanos, 0));
            }
        }
        silent.sort(LONGEST_SILENT_FIRST);
        return silent;
    }

    /** Each is asked when its turn comes: closing one gives its connection to a request that waits. */
    private void closeForOrigins(List<Candidate> silent) {
        silent.removeIf(candidate -> {
            if (candidate.silentNanos() < SILENT_AWAITED_NANOS) {
                return false;
            }
            boolean close =
                    switch (candidate.client().originDemand()) {
                        case NONE -> false;
                        case CROWDED -> candidate.silentNanos() >= SILENT_CROWDED_NANOS;
                        case AWAITED -> true;
                    };
            if (close) {
                close(candidate.client(), SlowReason.ORIGIN);
            }
            return close;
        });
    }

    private void closeForMemory(MemoryLevel level, List<Candidate> silent, long nowNanos) {
        int count = countToClose();
        long silentEnough = level == MemoryLevel.FULL ? SILENT_FULL_NANOS : SILENT_TIGHT_NANOS;
        for (Candidate candidate : silent) {
            if (count == 0 || candidate.silentNanos() < silentEnough) {
                break;
            }
            close(candidate.client(), SlowReason.MEMORY);
            count--;
        }
        memory.measure();
        if (count == 0 || memory.level() != MemoryLevel.FULL) {
            return;
        }
        for (Candidate candidate : takingSomething(nowNanos)) {
            if (count == 0) {
                break;
            }
            close(candidate.client(), SlowReason.MEMORY);
            count--;
        }
    }

    private List<Candidate> takingSomething(long nowNanos) {
        List<Candidate> taking = new ArrayList<>();
        for (Client client : behind) {
            if (client.silentNanos(nowNanos) < SILENT_FULL_NANOS && client.behindNanos(nowNanos) >= RATE_KNOWN_NANOS) {
                taking.add(new Candidate(client, 0, client.bytesPerSecond(nowNanos)));
            }
        }
        taking.sort(SLOWEST_FIRST);
        return taking;
    }

    /**
     * As many as have this loop's part of the excess, if each client of the loop has the same share; an eighth of them at least,
     * where the excess lies with the store or the kernel.
     */
    private int countToClose() {
        long used = memory.usedBytes();
        long excess = Math.max(0, used - memory.shared().relievedBytes()) / loops;
        long held = Math.max(1, used / loops / Math.max(1, behind.size()));
        int least = (behind.size() + CLOSED_PART - 1) / CLOSED_PART;
        return (int) Math.min(behind.size(), Math.max(least, (excess + held - 1) / held));
    }
}
