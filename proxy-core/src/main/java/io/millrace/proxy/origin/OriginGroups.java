package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * All groups of a proxy. A reload puts others in their place, in which hosts that stay keep what is known of them.
 *
 * <p>Thread-safe; {@link #apply} is called by one thread at a time.
 */
public final class OriginGroups {
    /** Groups that are gone and still known, for requests that were mapped by an earlier configuration. */
    private static final int GONE_MAX = 1000;

    /**
     * What a reload swaps.
     *
     * @param gone those of earlier configurations that this one does not have, the latest last
     */
    private record Generation(Map<String, OriginGroup> now, Map<String, OriginGroup> gone) {}

    private volatile Generation generation = new Generation(Map.of(), Map.of());

    /**
     * Takes over the groups of a configuration. A group that did not change stays what it is, with its turn. A group whose name is new
     * has what is known of its hosts from groups that are gone: it may be one of them by another name.
     */
    public void apply(List<OriginGroupConfig> configs) {
        apply(configs, url -> false, 0);
    }

    /**
     * As the other.
     *
     * @param isThisProxy whether a host is this proxy itself, where the configuration does not say
     * @param nowMillis the time of day, in epoch milliseconds
     */
    public void apply(List<OriginGroupConfig> configs, Predicate<RuleUrl> isThisProxy, long nowMillis) {
        Map<String, OriginGroup> before = generation.now;
        Map<String, OriginGroup> leaving = new LinkedHashMap<>(before);
        configs.forEach(config -> leaving.remove(config.name()));
        Map<RuleUrl, OriginHost> left = new HashMap<>();
        leaving.values().forEach(group -> group.hosts().forEach(host -> left.putIfAbsent(host.url(), host)));
        Map<String, OriginGroup> now = new LinkedHashMap<>();
        for (OriginGroupConfig config : configs) {
            OriginGroup old = before.get(config.name());
            BitSet selves = selves(config, isThisProxy);
            now.put(config.name(), old != null && old.is(config, selves) ? old : group(config, old, left, selves));
        }
        generation = new Generation(now, gone(generation.gone, leaving, now));
        for (OriginGroup group : now.values()) {
            if (group != before.get(group.name())) {
                group.hosts().forEach(host -> host.follow(group.config(), nowMillis));
            }
        }
    }

    private static Map<String, OriginGroup> gone(
            Map<String, OriginGroup> earlier, Map<String, OriginGroup> leaving, Map<String, OriginGroup> now) {
        Map<String, OriginGroup> gone = new LinkedHashMap<>(earlier);
        gone.keySet().removeAll(leaving.keySet());
        gone.putAll(leaving);
        gone.keySet().removeAll(now.keySet());
        Iterator<String> eldest = gone.keySet().iterator();
        while (gone.size() > GONE_MAX) {
            eldest.next();
            eldest.remove();
        }
        return gone;
    }

    /** Not of the configuration alone: this machine's addresses change, and what it listens on. */
    private static BitSet selves(OriginGroupConfig config, Predicate<RuleUrl> isThisProxy) {
        BitSet selves = new BitSet(0);
        for (int i = 0; i < config.hosts().size(); i++) {
            Boolean said = config.hosts().get(i).self();
            selves.set(i, said == null ? isThisProxy.test(config.hosts().get(i).url()) : said);
        }
        return selves;
    }

    private static OriginGroup group(
            OriginGroupConfig config, @Nullable OriginGroup old, Map<RuleUrl, OriginHost> left, BitSet selves) {
        Map<RuleUrl, OriginHost> known = new HashMap<>();
        if (old != null) {
            old.hosts().forEach(host -> known.put(host.url(), host));
        }
        List<OriginHost> hosts = new ArrayList<>();
        for (OriginGroupConfig.Host host : config.hosts()) {
            OriginHost stays = known.get(host.url());
            OriginHost renamed = old == null ? left.get(host.url()) : null;
            hosts.add(stays == null ? new OriginHost(config.name(), host.url(), renamed) : stays);
        }
        return new OriginGroup(config, hosts, selves);
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
     * @throws IllegalArgumentException when neither this configuration nor an earlier one has it
     */
    public OriginGroup find(String name) {
        Generation current = generation;
        OriginGroup found = current.now.getOrDefault(name, current.gone.get(name));
        if (found == null) {
            throw new IllegalArgumentException("no group of origins: " + name);
        }
        return found;
    }

    /** The configuration by which what happens to a group's hosts counts now; the group's own where it is gone. */
    OriginGroupConfig current(OriginGroup group) {
        OriginGroup now = generation.now.get(group.name());
        return now == null ? group.config() : now.config();
    }

    boolean isCurrent(OriginGroup group) {
        return generation.now.get(group.name()) == group;
    }

    boolean isCurrent(OriginHost host) {
        OriginGroup group = generation.now.get(host.group());
        return group != null && group.hosts().contains(host);
    }
}
