package io.millrace.proxy.config.fleet;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.value.RuleUrl;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of this node's membership in a fleet: nodes that share purges through NATS servers. Immutable.
 *
 * @param name name of the fleet
 * @param servers URLs of NATS servers, at least one
 * @param node name of this node
 * @param tier label of the cache layer of this node, such as {@code edge}
 * @param address URL at which other nodes send requests to this node, {@code http://host:port}; null for none
 * @param credentialsFile file with JWT and seed of the NATS user; null for none
 * @param nkeyFile file with a seed; null for none
 * @param tokenFile file with a token; null for none
 * @param caFile PEM file with CA certificates; null for those of the Java runtime
 * @param certificate PEM file with the client certificate; null for none
 * @param key PEM file with the private key of the client certificate; null for none
 * @param onGap treatment of stored responses if purges may have been missed
 * @param replicas minimum number of replicas of the JetStream stream of purges
 * @param outboxBytesMax limit of purges that wait on disk for the NATS servers, in bytes
 * @param configPublicKey PEM file that verifies the configuration of the fleet; null if this node does not apply it
 */
public record FleetConfig(
        String name,
        List<String> servers,
        String node,
        String tier,
        @Nullable RuleUrl address,
        @Nullable Path credentialsFile,
        @Nullable Path nkeyFile,
        @Nullable Path tokenFile,
        @Nullable Path caFile,
        @Nullable Path certificate,
        @Nullable Path key,
        OnGap onGap,
        int replicas,
        long outboxBytesMax,
        @Nullable Path configPublicKey) {
    /** Limit of the names of fleets, nodes and tiers, in characters. */
    public static final int NAME_LENGTH_MAX = 64;

    /** The treatment of stored responses if purges may have been missed. */
    public enum OnGap {
        /** Each stored response is validated before its next use. */
        VALIDATE,
        /** All stored responses are removed. */
        PURGE
    }

    /** Returns true if a text can be the name of a fleet, node or tier, which are parts of NATS subjects. */
    public static boolean isName(String text) {
        return !text.isEmpty()
                && text.length() <= NAME_LENGTH_MAX
                && text.chars()
                        .allMatch(c -> (c >= 'a' && c <= 'z')
                                || (c >= 'A' && c <= 'Z')
                                || (c >= '0' && c <= '9')
                                || c == '-'
                                || c == '_');
    }

    /** Returns the settings; null unless the fleet's name, its servers and the node's name are set. */
    public static @Nullable FleetConfig from(ConfigValues values) {
        String name = values.find(FleetKeys.NAME);
        List<String> servers = values.find(FleetKeys.SERVERS);
        String node = values.find(FleetKeys.NODE);
        if (name == null || node == null || servers == null || servers.isEmpty()) {
            return null;
        }
        return new FleetConfig(
                name,
                servers,
                node,
                values.get(FleetKeys.TIER),
                values.find(FleetKeys.ADDRESS),
                values.find(FleetKeys.CREDENTIALS_FILE),
                values.find(FleetKeys.NKEY_FILE),
                values.find(FleetKeys.TOKEN_FILE),
                values.find(FleetKeys.CA_FILE),
                values.find(FleetKeys.CERTIFICATE),
                values.find(FleetKeys.KEY),
                values.get(FleetKeys.ON_GAP),
                values.get(FleetKeys.REPLICAS),
                values.get(FleetKeys.OUTBOX_SIZE),
                values.isSet(FleetKeys.CONFIG) && !values.get(FleetKeys.CONFIG)
                        ? null
                        : values.find(FleetKeys.CONFIG_PUBLIC_KEY));
    }
}
