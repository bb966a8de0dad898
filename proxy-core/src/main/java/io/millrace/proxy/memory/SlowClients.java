package io.millrace.proxy.memory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Selects and closes the slowest clients of one event loop when a resource is scarce. Only clients with unsent response
 * bytes are candidates.
 *
 * <p>Stalled clients, which receive nothing, are closed before slow clients, the longest stall first. Slow clients are
 * closed only while the memory budget is full, the lowest rate first.
 *
 * <p>Not thread-safe; confined to its event loop.
 */
public final class SlowClients {
    /** Stall time after which a client may be closed while memory is tight. */
    static final long SILENT_TIGHT_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** Stall time after which a client may be closed while memory is full. */
    static final long SILENT_FULL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    /** Stall time after which a client may be closed while requests wait for the origin connection of its response. */
    static final long SILENT_AWAITED_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Stall time after which a client may be closed while few connections to its origin are left. */
    static final long SILENT_CROWDED_NANOS = TimeUnit.SECONDS.toNanos(2);
    /**
     * Minimum time with unsent bytes before a slow client is closed for memory. A shorter time is not enough to measure
     * its rate.
     */
    static final long RATE_KNOWN_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** At least this fraction of the clients is closed at a time: one in eight. */
    private static final int CLIENTS_PER_CLOSED = 8;

    /** How urgently other requests need the origin connection that a client's response occupies. */
    public enum OriginDemand {
        /** The response occupies no origin connection, or enough connections are left. */
        NONE,
        /** Seven eighths of the allowed connections carry requests. */
        CROWDED,
        /** Requests wait for a connection. */
        AWAITED
    }

    /** A client connection with unsent bytes. */
    public interface Client {
        /** Time since the client last received bytes, in ns. */
        long silentNanos(long nowNanos);

        /** Time for which the client has had unsent bytes without a break, in ns. */
        long unsentNanos(long nowNanos);

        /** Receive rate of the client since bytes began to wait for it, in bytes per second. */
        long bytesPerSecond(long nowNanos);

        /** How urgently other requests need the origin connection that the client's response occupies. */
        OriginDemand originDemand();

        /** Closes the connection. Releases its resources before it returns. */
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
    private final List<Client> waitingClients = new ArrayList<>();

    /**
     * @param loops number of event loops, which share the clients to be closed
     * @param rateMin minimum receive rate in bytes per second; 0 for none
     * @param onClosed called for each closed client
     */
    public SlowClients(LoopMemory memory, int loops, LongSupplier rateMin, Consumer<SlowReason> onClosed) {
        this.memory = memory;
        this.loops = loops;
        this.rateMin = rateMin;
        this.onClosed = onClosed;
    }

    /** Minimum receive rate in bytes per second; 0 for none. */
    public long rateMin() {
        return rateMin.getAsLong();
    }

    /** Closes a client. */
    public void close(Client client, SlowReason reason) {
        onClosed.accept(reason);
        client.closeSlow(reason);
    }

    /** Adds a client with unsent bytes. {@link #closeSome} must follow. */
    public void add(Client client) {
        waitingClients.add(client);
    }

    /** Closes as many clients as the present scarcity requires, and clears the list of added clients. */
    public void closeSome(long nowNanos) {
        try {
            memory.measure();
            memory.shared().measureStoreAndKernel();
            if (waitingClients.isEmpty()) {
                return;
            }
            List<Candidate> silent = silent(nowNanos);
            closeForOrigins(silent);
            MemoryLevel level = memory.level();
            if (level.isAtLeast(MemoryLevel.TIGHT)) {
                closeForMemory(level, silent, nowNanos);
            }
        } finally {
            waitingClients.clear();
        }
    }

    /** Returns the stalled clients, the longest stall first. */
    private List<Candidate> silent(long nowNanos) {
        List<Candidate> silent = new ArrayList<>();
        for (Client client : waitingClients) {
            long nanos = client.silentNanos(nowNanos);
            if (nanos >= SILENT_FULL_NANOS) {
                silent.add(new Candidate(client, nanos, 0));
            }
        }
        silent.sort(LONGEST_SILENT_FIRST);
        return silent;
    }

    /**
     * Closes stalled clients whose origin connections other requests need. Reads the demand before each close, because
     * the connection of a closed client goes to a waiting request.
     */
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
        long silentNanosMin = level == MemoryLevel.FULL ? SILENT_FULL_NANOS : SILENT_TIGHT_NANOS;
        for (Candidate candidate : silent) {
            if (count == 0 || candidate.silentNanos() < silentNanosMin) {
                break;
            }
            close(candidate.client(), SlowReason.MEMORY);
            count--;
        }
        memory.measure();
        if (count == 0 || memory.level() != MemoryLevel.FULL) {
            return;
        }
        for (Candidate candidate : slowReaders(nowNanos)) {
            if (count == 0) {
                break;
            }
            close(candidate.client(), SlowReason.MEMORY);
            count--;
        }
    }

    private List<Candidate> slowReaders(long nowNanos) {
        List<Candidate> slow = new ArrayList<>();
        for (Client client : waitingClients) {
            if (client.silentNanos(nowNanos) < SILENT_FULL_NANOS && client.unsentNanos(nowNanos) >= RATE_KNOWN_NANOS) {
                slow.add(new Candidate(client, 0, client.bytesPerSecond(nowNanos)));
            }
        }
        slow.sort(SLOWEST_FIRST);
        return slow;
    }

    /**
     * Returns the number of clients to close for memory. Assumes that each client of this loop uses the same number of
     * bytes. The minimum is an eighth of the clients: the memory of the store or of the kernel may be scarce, and the
     * used bytes do not include that memory.
     */
    private int countToClose() {
        long used = memory.usedBytes();
        long excess = Math.max(0, used - memory.shared().lowWaterBytes()) / loops;
        long bytesPerClient = Math.max(1, used / loops / Math.max(1, waitingClients.size()));
        int countMin = (waitingClients.size() + CLIENTS_PER_CLOSED - 1) / CLIENTS_PER_CLOSED;
        return (int)
                Math.min(waitingClients.size(), Math.max(countMin, (excess + bytesPerClient - 1) / bytesPerClient));
    }
}
