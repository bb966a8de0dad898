package io.millrace.proxy.admin.tls;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.FailureReply;
import io.millrace.proxy.admin.resource.Json;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** {@code POST /v1/tls/renew}: orders a new automatic certificate for a name. Thread-safe. */
public final class RenewResource implements AdminResource {
    /** The time limit is long, because an order waits for the issuer's validation. */
    private static final Duration TIMEOUT = Duration.ofMinutes(8);

    /** Orders certificates. Thread-safe. */
    @FunctionalInterface
    public interface Renewer {
        /** Completes with the issuer's decision; fails with IllegalArgumentException for an unknown name. */
        CompletionStage<Renewal> renew(String name);
    }

    /**
     * Outcome of an order. Times are seconds since 1970.
     *
     * @param problem reason why there is no new certificate; empty if there is one
     * @param retry time of the next automatic order; 0 for none
     */
    public record Renewal(String name, String issuer, long notAfter, String problem, long retry) {}

    private final Renewer renewer;

    /** Creates the resource for a source of certificates. */
    public RenewResource(Renewer renewer) {
        this.renewer = renewer;
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return "/v1/tls/renew";
    }

    @Override
    public Duration timeout() {
        return TIMEOUT;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Map<String, String> body = Json.strings(request.body(), Set.of("name"));
        String name = body.get("name");
        if (name == null || name.isEmpty()) {
            throw new AdminException(400, "bad-request", "the member 'name' is needed: a name of tls.acme.names");
        }
        renewer.renew(name.toLowerCase(Locale.ROOT)).whenComplete((renewal, failure) -> {
            if (failure == null) {
                responder.reply(reply(renewal));
            } else {
                responder.reply(FailureReply.of(new AdminException(400, "bad-request", reason(failure))));
            }
        });
    }

    private static String reason(Throwable failure) {
        Throwable cause = failure.getCause();
        return String.valueOf((cause == null ? failure : cause).getMessage());
    }

    private static AdminReply reply(Renewal renewal) {
        return AdminReply.json(json -> {
            json.writeStringProperty("name", renewal.name());
            json.writeStringProperty("issuer", renewal.issuer());
            json.writeNumberProperty("not_after", renewal.notAfter());
            json.writeStringProperty("problem", renewal.problem().isEmpty() ? null : renewal.problem());
            json.writeNumberProperty("retry", renewal.retry());
        });
    }
}
