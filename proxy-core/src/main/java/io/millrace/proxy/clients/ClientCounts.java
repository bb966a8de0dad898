package io.millrace.proxy.clients;

import io.millrace.proxy.http.IpAddress;
import java.util.HashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What each client has in progress now, over all event loops.
 *
 * <p>A table in stripes, each under its own lock. A client has an entry only while it has something, so the table is bounded by
 * {@code limits.connections}; beyond {@link #CLIENTS_MAX} clients nothing more is counted. Thread-safe.
 */
public final class ClientCounts {
    /** What is counted. */
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
            this.refusal = "a client is refused, since it has as many as " + key + " allows";
        }

        /** The line of the log for one that is refused, without its address. */
        String refusal() {
            return refusal;
        }

        /** A stable word for logs and Cache-Status. */
        public String text() {
            return text;
        }

        /** The limit's key in the configuration. */
        public String key() {
            return key;
        }
    }

    /** What became of an attempt to count. */
    public enum Result {
        /** Counted: {@link #remove} is to follow. */
        ADDED,
        /** The client has as many as it may. */
        REFUSED,
        /** The table is full: admitted without being counted. */
        NOT_COUNTED
    }

    static final int CLIENTS_MAX = 1 << 20;

    private static final int STRIPES = 64;

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

    /** Clients of one part of the table, guarded by the lock. */
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

    /** @param clientsMax most clients that are counted at the same time, rounded up to a whole number for each stripe */
    ClientCounts(int clientsMax) {
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe((clientsMax + STRIPES - 1) / STRIPES);
        }
    }

    private Stripe stripe(IpAddress client) {
        int hash = client.hashCode() * 0x9E3779B9;
        return stripes[hash >>> 26];
    }

    /**
     * Counts one more of a client's, unless it has as many as it may.
     *
     * @param client as {@link ClientLimits#client} has it
     * @param limit the most that it may have, at least 1
     */
    public Result tryAdd(Kind kind, IpAddress client, int limit) {
        return stripe(client).tryAdd(kind, client, limit);
    }

    /**
     * One less of a client's, for one that was {@link Result#ADDED}.
     *
     * @throws IllegalStateException when the client has none of the kind
     */
    public void remove(Kind kind, IpAddress client) {
        stripe(client).remove(kind, client);
    }

    /** How many of a kind a client has. */
    public int count(Kind kind, @Nullable IpAddress client) {
        return client == null ? 0 : stripe(client).count(kind, client);
    }

    /** Clients that have something in progress. */
    public int clients() {
        int clients = 0;
        for (Stripe stripe : stripes) {
            clients += stripe.size();
        }
        return clients;
    }
}
