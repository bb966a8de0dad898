package io.millrace.proxy.origin;

import io.millrace.proxy.config.OriginGroupConfig;
import io.millrace.proxy.config.RuleUrl;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All groups of a proxy. A reload puts others in their place, in which hosts that stay keep what is known of them.
 *
 * <p>Thread-safe; {@link #apply} is called by one thread at a time.
 */
public final class OriginGroups {
    /** Before, for requests that were mapped by the configuration before. */
    private record Generation(Map<String, OriginGroup> now, Map<String, OriginGroup> before) {}

    private volatile Generation generation = new Generation(Map.of(), Map.of());

    /** Takes over the groups of a configuration. A group that did not change stays what it is, with its turn. */
    public void apply(List<OriginGroupConfig> configs) {
        Map<String, OriginGroup> before = generation.now;
        Map<String, OriginGroup> now = new LinkedHashMap<>();
        for (OriginGroupConfig config : configs) {
            OriginGroup old = before.get(config.name());
            now.put(config.name(), old != null && old.config().equals(config) ? old : group(config, old));
        }
        generation = new Generation(now, before);
    }

    private static OriginGroup group(OriginGroupConfig config, @Nullable OriginGroup old) {
        Map<RuleUrl, OriginHost> known = new HashMap<>();
        if (old != null) {
            old.hosts().forEach(host -> known.put(host.url(), host));
        }
        List<OriginHost> hosts = new ArrayList<>();
        for (OriginGroupConfig.Host host : config.hosts()) {
            OriginHost stays = known.get(host.url());
            hosts.add(stays == null ? new OriginHost(config.name(), host.url()) : stays);
        }
        return new OriginGroup(config, hosts);
    }

    /** For one more event loop. */
    public LoopOrigins newLoop() {
        return new LoopOrigins(this);
    }

    /** In the order of the configuration. */
    public Collection<OriginGroup> all() {
        return generation.now.values();
    }

    /**
     * A group by its name.
     *
     * @throws IllegalArgumentException when neither this configuration nor the one before has it
     */
    public OriginGroup find(String name) {
        Generation current = generation;
        OriginGroup found = current.now.getOrDefault(name, current.before.get(name));
        if (found == null) {
            throw new IllegalArgumentException("no group of origins: " + name);
        }
        return found;
    }

    boolean isCurrent(OriginGroup group) {
        return generation.now.get(group.name()) == group;
    }

    boolean isCurrent(OriginHost host) {
        OriginGroup group = generation.now.get(host.group());
        return group != null && group.hosts().contains(host);
    }
}
