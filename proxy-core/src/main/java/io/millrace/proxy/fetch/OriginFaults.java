package io.millrace.proxy.fetch;

import io.millrace.proxy.observe.FaultLog;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs failed connections to origins, with advice to the operator. Writes at most one line a minute for each reason,
 * with the count of further failures. Shared by the event loops of a proxy. Thread-safe.
 */
public final class OriginFaults {
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final FaultLog log;
    private final LongSupplier clockMillis;

    /** @param clockMillis the wall clock, in epoch milliseconds */
    public OriginFaults(LongSupplier clockMillis) {
        this(LoggerFactory.getLogger(OriginFaults.class), System::nanoTime, clockMillis);
    }

    OriginFaults(Logger logger, LongSupplier nanoTime, LongSupplier clockMillis) {
        this.log = new FaultLog(logger, QUIET_NANOS, nanoTime);
        this.clockMillis = clockMillis;
    }

    /**
     * Reports a failed connection.
     *
     * @param message the origin, the address and the error
     */
    void report(OriginFailure.Reason reason, String message) {
        if (reason.isOriginFault()) {
            log.reportFrequent(
                    "no connection to an origin (" + reason.text() + ")",
                    () -> message.strip() + "; " + remedy(reason, message));
        }
    }

    private String remedy(OriginFailure.Reason reason, String message) {
        return switch (reason) {
            case DNS -> "correct the host in the rule, or the name servers in dns.name_servers or /etc/resolv.conf";
            case DESTINATION -> "permit the address, or correct the host";
            case CONNECT_REFUSED -> "start the origin, or correct its host and port in the rule";
            case CONNECT_TIMEOUT -> "check the route and the firewalls between this machine and the origin";
            case TLS -> tlsRemedy(message);
            default -> "see the log of the origin";
        };
    }

    private String tlsRemedy(String message) {
        if (message.contains("NotBefore") || message.contains("not yet valid")) {
            return "the certificate is not valid yet by the clock of this machine, which shows "
                    + Instant.ofEpochMilli(clockMillis.getAsLong()) + ": set the clock, or renew the certificate";
        }
        if (message.contains("NotAfter") || message.contains("has expired")) {
            return "the certificate has expired by the clock of this machine, which shows "
                    + Instant.ofEpochMilli(clockMillis.getAsLong()) + ": renew the certificate, or set the clock";
        }
        if (message.contains("certification path") || message.contains("certificate chain")) {
            return "add the issuer's certificate to the file in origin.tls.ca_file";
        }
        return "see origin.tls for the name, the authorities and the version";
    }
}
