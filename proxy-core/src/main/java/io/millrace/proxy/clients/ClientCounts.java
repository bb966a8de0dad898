package io.millrace.proxy.clients;

import io.millrace.proxy.http.IpAddress;
import java.util.HashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The number of requests, tunnels and connections that each client has in progress, over all event loops.
 *
 * <p>A striped hash table with one lock per stripe. A client has an entry only while a count is above zero, so
 * {@code limits.connections} bounds the table. Beyond {@link #CLIENTS_MAX} clients, further clients are not counted.
 * Thread-safe.
 */
public final class ClientCounts {
    /** The kinds of use that are counted for each client. */
    public enum Kind {
        REQUESTS("client-requests", "limits.per_client.requests"),
        TUNNELS("client-tunnels", "limits.per_client.tunnels"),
        CONNECTIONS("client-connections", "limits.per_client.connections");

        private final String text;
        private final String key;
        private final String refusal;

        Kind(String text, String key) {
            this.text = text;
            this.key = key;
            this.refusal = "a client is refused, because it has reached " + key;
        }

        /** The log message of a refusal, without the address. */
        String refusal() {
            return refusal;
        }

        /** The stable name for logs and Cache-Status. */
        public String text() {
            return text;
        }

        /** The key of the limit in the configuration. */
        public String key() {
            return key;
        }
    }

    /** The result of an attempt to count. */
    public enum Result {
        /** The client was counted; the caller must call {@link #remove} later. */
        ADDED,
        /** The client has reached its limit. */
        REFUSED,
        /** The table is full, or no limit applies: the client is admitted without being counted. */
        NOT_COUNTED
    }

    /** Limit of counted clients. */
    static final int CLIENTS_MAX = 1 << 20;

    private static final int STRIPES = 64;

    /** The counts of one client, guarded by the lock of its stripe. */
    private static final class Counts {
        private int requests;
        private int tunnels;
        private int connections;

        int of(Kind kind) {
            return switch (kind) {
                case REQUESTS -> requests;
                case TUNNELS -> tunnels;
                case CONNECTIONS -> connections;
            };
        }

        void add(Kind kind, int amount) {
            switch (kind) {
                case REQUESTS -> requests += amount;
                case TUNNELS -> tunnels += amount;
                case CONNECTIONS -> connections += amount;
            }
        }

        boolean isZero() {
            return (requests | tunnels | connections) == 0;
        }
    }

    /** One stripe of the table, guarded by its lock. */
    private static final class Stripe {
        private final ReentrantLock lock = new ReentrantLock();
        private final HashMap<IpAddress, Counts> clients = new HashMap<>();
        private final int clientsMax;

        private Stripe(int clientsMax) {
            this.clientsMax = clientsMax;
        }

        Result tryAdd(Kind kind, IpAddress client, int limit) {
            lock.lock();
            try {
                Counts counts = clients.get(client);
                if (counts == null) {
                    if (clients.size() >= clientsMax) {
                        return Result.NOT_COUNTED;
                    }
                    counts = new Counts();
                    clients.put(client, counts);
                } else if (counts.of(kind) >= limit) {
                    return Result.REFUSED;
                }
                counts.add(kind, 1);
                return Result.ADDED;
            } finally {
                lock.unlock();
            }
        }

        void remove(Kind kind, IpAddress client) {
            lock.lock();
            try {
                Counts counts = clients.get(client);
                if (counts == null || counts.of(kind) == 0) {
                    throw new IllegalStateException(kind.text() + ": removed more than were added");
                }
                counts.add(kind, -1);
                if (counts.isZero()) {
                    clients.remove(client);
                }
            } finally {
                lock.unlock();
            }
        }

        int count(Kind kind, IpAddress client) {
            lock.lock();
            try {
                Counts counts = clients.get(client);
                return counts == null ? 0 : counts.of(kind);
            } finally {
                lock.unlock();
            }
        }

        int size() {
            lock.lock();
            try {
                return clients.size();
            } finally {
                lock.unlock();
            }
        }
    }

    private final Stripe[] stripes = new Stripe[STRIPES];

    public ClientCounts() {
        this(CLIENTS_MAX);
    }

    /** @param clientsMax limit of counted clients, rounded up to a multiple of the stripes */
    ClientCounts(int clientsMax) {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe((clientsMax + STRIPES - 1) / STRIPES);
        }
    }

    private Stripe stripe(IpAddress client) {
        // Fibonacci hashing; the upper six bits are the index of one of the 64 stripes.
        int hash = client.hashCode() * 0x9E3779B9;
        return stripes[hash >>> 26];
    }

    /**
     * Adds one to the count of a client, unless the count has reached the limit.
     *
     * @param client result of {@link ClientLimits#client}
     * @param limit limit of the kind, at least 1
     */
    public Result tryAdd(Kind kind, IpAddress client, int limit) {
        return stripe(client).tryAdd(kind, client, limit);
    }

    /**
     * Subtracts one from the count of a client, after a result of {@link Result#ADDED}.
     *
     * @throws IllegalStateException if the count is zero
     */
    public void remove(Kind kind, IpAddress client) {
        stripe(client).remove(kind, client);
    }

    /** Returns the count of a kind for a client. */
    public int count(Kind kind, @Nullable IpAddress client) {
        return client == null ? 0 : stripe(client).count(kind, client);
    }

    /** Number of clients with an entry. */
    public int clients() {
        int clients = 0;
        for (Stripe stripe : stripes) {
            clients += stripe.size();
        }
        return clients;
    }
}
