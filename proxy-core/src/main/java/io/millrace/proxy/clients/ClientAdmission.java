package io.millrace.proxy.clients;

import io.millrace.proxy.access.authorize.AuthorizationTable;
import io.millrace.proxy.access.password.PasswordVerifier;
import io.millrace.proxy.access.token.TokenVerifier;
import io.millrace.proxy.clients.ClientCounts.Kind;
import io.millrace.proxy.clients.ClientCounts.Result;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.observe.FaultLog;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Admits or refuses requests, tunnels and connections by the limits per client. For each kind, it logs at most one
 * refusal per minute, with the client's address. Also holds objects that all event loops share: the rates of request
 * limits, and the checks of passwords, tokens and authorisation servers. Thread-safe.
 */
public final class ClientAdmission {
    private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final ClientCounts counts;
    private final RateTable rates = new RateTable();
    private final PasswordVerifier passwords = new PasswordVerifier();
    private final AtomicReference<@Nullable TokenVerifier> tokens = new AtomicReference<>();
    private final AtomicReference<@Nullable AuthorizationTable> authorizations = new AtomicReference<>();
    private final FaultLog faults;

    /** Creates the admission of a new proxy. */
    public ClientAdmission() {
        this(LoggerFactory.getLogger(ClientAdmission.class), System::nanoTime);
    }

    ClientAdmission(Logger log, LongSupplier nanoTime) {
        this.counts = new ClientCounts();
        this.faults = new FaultLog(log, LOG_INTERVAL_NANOS, nanoTime);
    }

    /** The number of requests, tunnels and connections in progress. */
    public ClientCounts counts() {
        return counts;
    }

    /** Compares passwords of clients. */
    public PasswordVerifier passwords() {
        return passwords;
    }

    /** Verifies tokens of clients. Created at the first use, because its library may be missing. */
    public TokenVerifier tokens() {
        TokenVerifier verifier = tokens.get();
        if (verifier == null) {
            TokenVerifier created = new TokenVerifier();
            TokenVerifier before = tokens.compareAndExchange(null, created);
            return before == null ? created : before;
        }
        return verifier;
    }

    /** The decisions of authorisation servers. Created at the first use. */
    public AuthorizationTable authorizations() {
        AuthorizationTable table = authorizations.get();
        if (table == null) {
            AuthorizationTable created = new AuthorizationTable();
            AuthorizationTable before = authorizations.compareAndExchange(null, created);
            return before == null ? created : before;
        }
        return table;
    }

    /** The state of the limits on the request rate of each client. */
    public RateTable rates() {
        return rates;
    }

    /**
     * Counts one more request, tunnel or connection for a client, unless its limit is reached.
     *
     * @param client result of {@link ClientLimits#client}; null is not counted
     * @param limit limit of the kind; 0 for no limit and no counting
     */
    public Result admit(Kind kind, @Nullable IpAddress client, int limit) {
        if (client == null || limit <= 0) {
            return Result.NOT_COUNTED;
        }
        Result result = counts.tryAdd(kind, client, limit);
        if (result == Result.REFUSED) {
            logRefusal(kind, client, limit);
        }
        return result;
    }

    private void logRefusal(Kind kind, IpAddress client, int limit) {
        faults.reportFrequent(kind.refusal(), () -> limit + " from " + client.toText());
    }
}
