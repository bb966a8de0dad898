package io.millrace.proxy.edge;

import io.millrace.proxy.config.edge.MirrorConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.fetch.FetchSettings;
import io.millrace.proxy.fetch.Origin;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;

/** The settings for copies of the requests of one remap rule: their origin and their limits. Immutable. */
public final class MirrorRule {
    private final MirrorConfig config;
    private final Origin origin;
    private final String authority;

    MirrorRule(MirrorConfig config) {
        this.config = config;
        RuleUrl to = config.to();
        String host = Objects.requireNonNull(to.host(), "host");
        String plain = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        origin = to.isSecure() ? Origin.https(plain, to.effectivePort()) : Origin.http(plain, to.effectivePort());
        authority = host + (to.port() < 0 ? "" : ":" + to.port());
    }

    /** Decides by a random number whether a request is copied. */
    public boolean isSampled() {
        return config.sample() >= 1 || ThreadLocalRandom.current().nextDouble() < config.sample();
    }

    /** The origin that gets the copies. */
    public Origin origin() {
        return origin;
    }

    /** The Host field of copies, unless the rule has {@code pristine_host_hdr}. */
    public String authority() {
        return authority;
    }

    /** TLS settings of connections to the origin that gets the copies. */
    public OriginTlsConfig tls() {
        return config.tls();
    }

    /** Returns true if requests with content are copied. */
    public boolean copiesBodies() {
        return config.bodies();
    }

    /** Limit of the content of a copied request, in bytes. */
    public int bodyBytesMax() {
        return config.bodyBytesMax();
    }

    /** Returns the general settings with the limits of connections and waiting requests for copies. */
    public FetchSettings settings(FetchSettings general) {
        return general.withLimits(config.connectionsMax(), 0, general.tunnelsMax(), config.queueMax());
    }
}
