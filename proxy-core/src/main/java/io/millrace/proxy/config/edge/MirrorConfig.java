package io.millrace.proxy.config.edge;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.tls.OriginTlsConfig;
import io.millrace.proxy.config.value.RuleUrl;
import org.jspecify.annotations.Nullable;

/**
 * The settings for copies of the requests of one remap rule. Immutable.
 *
 * @param to the origin that gets the copies
 * @param sample share of the requests that are copied, above 0 and at most 1
 * @param bodies whether requests with content are copied
 * @param bodyBytesMax limit of the content of a copied request
 * @param connectionsMax limit of connections to the origin, for each event loop
 * @param queueMax limit of copies that wait for a connection, for each event loop
 * @param tls TLS settings of connections to the origin
 */
public record MirrorConfig(
        RuleUrl to,
        double sample,
        boolean bodies,
        int bodyBytesMax,
        int connectionsMax,
        int queueMax,
        OriginTlsConfig tls) {
    /**
     * Reads the settings of a remap rule.
     *
     * @param own the values that the rule sets
     * @param general the general values, which complete them
     * @return null if no copies are made
     */
    public static @Nullable MirrorConfig from(ConfigValues own, ConfigValues general) {
        ConfigValues inForce = own.over(general);
        RuleUrl to = inForce.find(MirrorKeys.TO);
        double sample = inForce.get(MirrorKeys.SAMPLE);
        return to == null || sample == 0
                ? null
                : new MirrorConfig(
                        to,
                        sample,
                        inForce.get(MirrorKeys.BODIES),
                        Math.toIntExact(inForce.get(MirrorKeys.BODY_MAX)),
                        inForce.get(MirrorKeys.CONNECTIONS),
                        inForce.get(MirrorKeys.QUEUE),
                        OriginTlsConfig.ofMirror(own, general));
    }
}
