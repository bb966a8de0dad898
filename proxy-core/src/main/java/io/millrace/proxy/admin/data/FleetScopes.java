package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.PurgeRequest;
import io.millrace.proxy.purge.fleet.FleetOutbox;
import io.millrace.proxy.purge.fleet.FleetPurge;
import io.millrace.proxy.purge.fleet.FleetPurge.Action;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/** Converts scopes of the admin API to purges for other nodes of a fleet. Thread-safe: no state. */
final class FleetScopes {
    private FleetScopes() {}

    /**
     * Returns the purge of a scope for other nodes.
     *
     * @param target the target of the planned purge; for a pattern, the expression that is limited to the sites of the
     *     client
     */
    static FleetPurge of(Scope scope, String target) {
        String host = String.valueOf(scope.host());
        String text = String.valueOf(scope.text());
        boolean soft = scope.soft();
        return switch (scope.kind()) {
            case ALL -> FleetPurge.of(Action.ALL, List.of(), soft);
            case HOST -> FleetPurge.of(Action.HOST, List.of(host), soft);
            case GROUP -> FleetPurge.of(Action.GROUP, List.of(host, text), soft);
            case PREFIX -> FleetPurge.of(Action.PREFIX, List.of(text), soft);
            case URL -> FleetPurge.of(Action.URL, urls(text), soft);
            case PATTERN -> FleetPurge.of(Action.PATTERN, List.of(target), soft);
            case TAG -> {
                String site = scope.site();
                List<String> sites = site == null ? List.of() : List.of(site.toLowerCase(Locale.ROOT));
                yield new FleetPurge(Action.TAG, scope.tags(), sites, soft);
            }
        };
    }

    /** Returns the URLs that a purge of one URL covers. */
    private static List<String> urls(String url) {
        return TargetUri.parseAbsolute(url) instanceof TargetUri target
                ? PurgeRequest.urls(target).stream().map(TargetUri::asString).toList()
                : List.of(url);
    }

    /**
     * Checks that the outbox, the queue of purges for the fleet, accepts a purge.
     *
     * @throws AdminException if the purge must be refused
     */
    static void check(FleetOutbox outbox, FleetPurge purge) throws AdminException {
        String reason = outbox.refusal(purge);
        if (reason != null) {
            throw new AdminException(503, "fleet-outbox", reason);
        }
    }

    /** Returns the answer to a purge that is in force on this node only. */
    static AdminException notQueued(IOException failure) {
        return new AdminException(
                500,
                "fleet-not-queued",
                "purged on this node, but the purge could not be queued for the fleet: " + failure.getMessage());
    }
}
