package io.millrace.proxy.config.edge;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.List;

/** Configuration keys for canary splits, which send some clients of a remap rule to other origins. */
public final class SplitKeys {
    public static final ConfigKey<List<ConfigValues>> SPLIT = ConfigKey.builder("remap[].split", ValueType.LIST)
            .description("Branches with other origins for some clients, by weight or cookie; all other clients get the"
                    + " origin of the rule. At most 16.");
    public static final ConfigKey<String> SPLIT_BY = ConfigKey.builder("remap[].split_by", ValueType.STRING)
            .defaultsTo(SplitConfig.BY_CLIENT)
            .description("Value that decides about the branch by weight, so that a client keeps its branch: client"
                    + " (an IPv4 address, or the first 64 bits of an IPv6 address), or cookie[\"NAME\"]; without the"
                    + " cookie the address decides.");
    public static final ConfigKey<String> NAME = ConfigKey.builder("remap[].split[].name", ValueType.STRING)
            .description("Name of the branch in metrics, cache keys and millctl explain; the default is that of the"
                    + " group, or the host of remap[].split[].to.");
    public static final ConfigKey<RuleUrl> TO = ConfigKey.builder("remap[].split[].to", ValueType.ORIGIN)
            .description("Origin of the branch, instead of scheme, host and port of remap[].to. The path and query of"
                    + " remap[].to also apply to the branch.");
    public static final ConfigKey<String> ORIGINS = ConfigKey.builder("remap[].split[].origins", ValueType.STRING)
            .description("Name of the origin group of the branch, instead of remap[].split[].to.");
    public static final ConfigKey<Double> WEIGHT = ConfigKey.builder("remap[].split[].weight", ValueType.DECIMAL)
            .within(0.0, 100.0)
            .defaultsTo(0.0)
            .description(
                    "Percentage of the clients that get this branch, in steps of 0.01; at most 100 for all branches"
                            + " together.");
    public static final ConfigKey<String> COOKIE = ConfigKey.builder("remap[].split[].cookie", ValueType.STRING)
            .description(
                    "Cookie with which a client gets this branch, whatever the weights: NAME=VALUE, or NAME for any"
                            + " value.");
    public static final ConfigKey<Boolean> SEPARATE_CACHE = ConfigKey.builder(
                    "remap[].split[].separate_cache", ValueType.BOOLEAN)
            .defaultsTo(true)
            .description("Whether the branch has stored responses of its own; false mixes them with those of the rule's"
                    + " origin.");

    private SplitKeys() {}
}
