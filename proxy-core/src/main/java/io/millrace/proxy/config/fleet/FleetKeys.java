package io.millrace.proxy.config.fleet;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.RuleUrl;
import java.nio.file.Path;
import java.util.List;

/** Configuration keys of the membership in a fleet (nodes that share purges). */
public final class FleetKeys {
    public static final ConfigKey<String> NAME = ConfigKey.builder("fleet.name", ValueType.STRING)
            .description("Name of the fleet; all nodes with this name share purges. Without it, there is no fleet.");
    public static final ConfigKey<List<String>> SERVERS = ConfigKey.builder("fleet.servers", ValueType.NAMES)
            .description("URLs of NATS servers with JetStream, such as nats://127.0.0.1:4222 or tls://nats1:4222.");
    public static final ConfigKey<String> NODE = ConfigKey.builder("fleet.node", ValueType.STRING)
            .description("Name of this node, unique in the fleet: letters, digits, '-' and '_'.");
    public static final ConfigKey<String> TIER = ConfigKey.builder("fleet.tier", ValueType.STRING)
            .defaultsTo("edge")
            .description(
                    "Tier of this node, shown by fleet status and used by hosts_from: letters, digits, '-' and '_'.");
    public static final ConfigKey<RuleUrl> ADDRESS = ConfigKey.builder("fleet.address", ValueType.ORIGIN)
            .description("URL at which other nodes of the fleet send requests to this node, such as"
                    + " http://10.0.0.3:8080. Without it, this node is no host of a group with hosts_from.");
    public static final ConfigKey<Path> CREDENTIALS_FILE = ConfigKey.builder("fleet.credentials_file", ValueType.PATH)
            .description("File with the NATS user's JWT and seed, as nsc writes it.");
    public static final ConfigKey<Path> NKEY_FILE = ConfigKey.builder("fleet.nkey_file", ValueType.PATH)
            .description("File with the seed of the NATS user's nkey.");
    public static final ConfigKey<Path> TOKEN_FILE = ConfigKey.builder("fleet.token_file", ValueType.PATH)
            .description("File with the token of the NATS servers.");
    public static final ConfigKey<Path> CA_FILE = ConfigKey.builder("fleet.tls.ca_file", ValueType.PATH)
            .description("PEM file with the CA certificates that verify NATS servers; by default those of Java.");
    public static final ConfigKey<Path> CERTIFICATE = ConfigKey.builder("fleet.tls.certificate", ValueType.PATH)
            .description("PEM file with this node's client certificate for NATS servers.");
    public static final ConfigKey<Path> KEY = ConfigKey.builder("fleet.tls.key", ValueType.PATH)
            .description("PEM file with the private key of fleet.tls.certificate.");
    public static final ConfigKey<FleetConfig.OnGap> ON_GAP = ConfigKey.builder(
                    "fleet.on_gap", ValueType.word(FleetConfig.OnGap.class, false))
            .defaultsTo(FleetConfig.OnGap.VALIDATE)
            .description("Treatment of all stored responses if purges of other nodes may have been missed.");
    public static final ConfigKey<Integer> REPLICAS = ConfigKey.builder("fleet.replicas", ValueType.INTEGER)
            .within(1, 5)
            .defaultsTo(1)
            .description("Minimum number of replicas of the stream of purges; use 3 with three NATS servers.");
    public static final ConfigKey<Long> OUTBOX_SIZE = ConfigKey.builder("fleet.outbox_size", ValueType.SIZE)
            .within(64L << 10, 1L << 30)
            .defaultsTo(64L << 20)
            .description("Limit of purges that wait on disk for the NATS servers; further purges are refused.");
    public static final ConfigKey<Boolean> CONFIG = ConfigKey.builder("fleet.config", ValueType.BOOLEAN)
            .defaultsTo(false, "true with fleet.config_public_key_file, otherwise false")
            .description("Whether this node applies the configuration that fleet config push sends.");
    public static final ConfigKey<Path> CONFIG_PUBLIC_KEY = ConfigKey.builder(
                    "fleet.config_public_key_file", ValueType.PATH)
            .description("PEM file with the Ed25519 public key that verifies the configuration of the fleet.");

    private FleetKeys() {}
}
