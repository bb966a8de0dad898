package io.millrace.bench.clients;

import io.millrace.bench.StoredResponses;
import io.millrace.proxy.clients.ClientAdmission;
import io.millrace.proxy.clients.KeyHash;
import io.millrace.proxy.clients.RateTable;
import io.millrace.proxy.clients.RequestLimit;
import io.millrace.proxy.clients.RequestLimits;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.RequestLimitKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Benchmark of one decision of a request limit: the hash of the client's key, and the update of the client's slot in
 * the table of rates. The table is shared by all threads and full of clients, so that most decisions miss the
 * processor's caches. Target: 200 ns.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RequestLimitBenchmark {
    private static final int CLIENTS = 1_000_000;

    /** The table and the limit, shared by all threads. */
    @State(Scope.Benchmark)
    public static class Table {
        private final RateTable rates = new ClientAdmission().rates();
        private final RequestLimit limit = limit();
        private final RequestHead request = StoredResponses.browserRequest();

        private static RequestLimit limit() {
            RequestLimits limits = RequestLimits.of(ProxyConfig.builder()
                    .requestLimits(List.of(ConfigValues.builder()
                            .set(RequestLimitKeys.NAME, "client")
                            .set(RequestLimitKeys.RATE, "10/m")
                            .build()))
                    .build());
            return Objects.requireNonNull(limits).of(-1)[0];
        }

        /** Fills the table. */
        @Setup
        public void fill() {
            KeyHash hash = rates.newHash();
            for (int client = 0; client < CLIENTS; client++) {
                limit.take(rates, limit.key(hash, request, address(client)));
            }
        }
    }

    /** The next client of one thread. */
    @State(Scope.Thread)
    public static class Client {
        private int next = (int) System.nanoTime();
        private KeyHash hash = new ClientAdmission().rates().newHash();

        /** Creates a hash function with the secret of the table. */
        @Setup
        public void begin(Table table) {
            hash = table.rates.newHash();
        }

        private IpAddress nextAddress() {
            next = next * 1_664_525 + 1_013_904_223;
            return address(Integer.remainderUnsigned(next, CLIENTS));
        }
    }

    private static IpAddress address(int client) {
        return new IpAddress(0, 0xffff_0a00_0000L + client);
    }

    /** Decides about a request of one of a million clients. */
    @Benchmark
    public long ofAMillionClients(Table table, Client client) {
        return table.limit.take(table.rates, table.limit.key(client.hash, table.request, client.nextAddress()));
    }

    /** Decides about a request of the only client that sends requests. */
    @Benchmark
    public long ofOneClient(Table table, Client client) {
        return table.limit.take(table.rates, table.limit.key(client.hash, table.request, address(1)));
    }
}
