package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.observe.event.EventSink;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All origin groups of a proxy. A reload replaces changed groups; hosts that remain keep their state.
 *
 * <p>Thread-safe.
 */
public final class OriginGroups {
    /** Limit of removed groups that are kept, for requests that were mapped by an earlier configuration. */
    private static final int GONE_MAX = 1000;

    private static final Logger LOG = LoggerFactory.getLogger(OriginGroups.class);

    /**
     * The groups of the current configuration, and removed groups.
     *
     * @param gone groups of earlier configurations; the group that was removed last comes last
     */
    private record Generation(Map<String, OriginGroup> now, Map<String, OriginGroup> gone) {}

    private final ReentrantLock changes = new ReentrantLock();
    /** The groups of the configuration, without nodes of the fleet. Guarded by the lock. */
    private List<OriginGroupConfig> configured = List.of();

    /** Guarded by the lock. */
    private Predicate<RuleUrl> isThisProxy = url -> false;

    /** Guarded by the lock. */
    private FleetMembers members = FleetMembers.NONE;

    private volatile Generation generation = new Generation(Map.of(), Map.of());
    private volatile EventSink events = EventSink.NONE;

    /** Sets the receiver of events when hosts go up or down. Applies to existing hosts too. */
    public void events(EventSink sink) {
        events = sink;
    }

    /**
     * Applies the groups of a configuration. Keeps unchanged groups with their round-robin state. A group with a
     * new name may be a renamed group, so its hosts take over the state of the same hosts in removed groups.
     */
    public void apply(List<OriginGroupConfig> configs) {
        apply(configs, url -> false, 0);
    }

    /**
     * Applies the groups of a configuration, as {@link #apply(List)} does.
     *
     * @param isThisProxy returns true if a URL leads to this proxy itself; used for hosts without the setting
     * {@code self}
     * @param nowMillis current time, in epoch milliseconds
     */
    public void apply(List<OriginGroupConfig> configs, Predicate<RuleUrl> isThisProxy, long nowMillis) {
        changes.lock();
        try {
            configured = configs;
            this.isThisProxy = isThisProxy;
            replace(nowMillis);
        } finally {
            changes.unlock();
        }
    }

    /**
     * Replaces the nodes of the fleet, which are hosts of groups with {@code hosts_from}.
     *
     * @param nowMillis current time, in epoch milliseconds
     * @return whether they have changed
     */
    public boolean members(FleetMembers next, long nowMillis) {
        changes.lock();
        try {
            boolean isChange = !next.equals(members);
            if (isChange) {
                members = next;
                replace(nowMillis);
            }
            return isChange;
        } finally {
            changes.unlock();
        }
    }

    /** Replaces the changed groups. The caller holds the lock. */
    private void replace(long nowMillis) {
        List<OriginGroupConfig> configs = members.addedTo(configured);
        Map<String, OriginGroup> before = generation.now;
        Map<String, OriginGroup> removed = new LinkedHashMap<>(before);
        configs.forEach(config -> removed.remove(config.name()));
        Map<RuleUrl, OriginHost> hostsOfRemovedGroups = new HashMap<>();
        removed.values()
                .forEach(group -> group.hosts().forEach(host -> hostsOfRemovedGroups.putIfAbsent(host.url(), host)));
        Map<String, OriginGroup> now = new LinkedHashMap<>();
        for (OriginGroupConfig config : configs) {
            OriginGroup old = before.get(config.name());
            BitSet selfHosts = selfHosts(config, isThisProxy);
            now.put(
                    config.name(),
                    old != null && old.hasConfig(config, selfHosts)
                            ? old
                            : group(config, old, hostsOfRemovedGroups, selfHosts));
        }
        generation = new Generation(now, gone(generation.gone, removed, now));
        for (OriginGroup group : now.values()) {
            if (group != before.get(group.name())) {
                group.hosts().forEach(host -> host.applyRules(group.config(), nowMillis));
                logNodes(group, before.get(group.name()));
            }
        }
    }

    /**
     * Logs if a group of fleet nodes begins or ceases to have hosts. A group without hosts is valid, but the name of
     * its tier may be misspelt.
     */
    private static void logNodes(OriginGroup group, @Nullable OriginGroup before) {
        String tier = group.config().fleetTier();
        boolean wasEmpty = before != null && before.hosts().isEmpty();
        if (tier == null) {
            return;
        }
        if (group.hosts().isEmpty() && !wasEmpty) {
            LOG.warn(
                    "group {} of origins has no host: no other node of tier {} is live, has a fleet.address and takes requests",
                    group.name(),
                    tier);
        } else if (wasEmpty && !group.hosts().isEmpty()) {
            LOG.info("group {} of origins has hosts: {}", group.name(), group.hosts());
        }
    }

    private static Map<String, OriginGroup> gone(
            Map<String, OriginGroup> earlier, Map<String, OriginGroup> removed, Map<String, OriginGroup> now) {
        Map<String, OriginGroup> gone = new LinkedHashMap<>(earlier);
        gone.keySet().removeAll(removed.keySet());
        gone.putAll(removed);
        gone.keySet().removeAll(now.keySet());
        Iterator<String> eldest = gone.keySet().iterator();
        while (gone.size() > GONE_MAX) {
            eldest.next();
            eldest.remove();
        }
        return gone;
    }

    /**
     * Returns the indexes of the hosts that are this proxy. The result may change although the configuration of the
     * group does not, because it depends on the machine's addresses and the listening ports.
     */
    private static BitSet selfHosts(OriginGroupConfig config, Predicate<RuleUrl> isThisProxy) {
        BitSet selfHosts = new BitSet(0);
        for (int i = 0; i < config.hosts().size(); i++) {
            Boolean configured = config.hosts().get(i).self();
            selfHosts.set(
                    i,
                    configured == null
                            ? config.hosts().get(i).unixSocket() == null
                                    && isThisProxy.test(config.hosts().get(i).url())
                            : configured);
        }
        return selfHosts;
    }

    private OriginGroup group(
            OriginGroupConfig config,
            @Nullable OriginGroup old,
            Map<RuleUrl, OriginHost> hostsOfRemovedGroups,
            BitSet selfHosts) {
        Map<RuleUrl, OriginHost> hostsOfOldGroup = new HashMap<>();
        if (old != null) {
            old.hosts().forEach(host -> hostsOfOldGroup.put(host.url(), host));
        }
        List<OriginHost> hosts = new ArrayList<>();
        for (OriginGroupConfig.Host host : config.hosts()) {
            OriginHost keptHost = hostsOfOldGroup.get(host.url());
            String socket = host.unixSocket() == null ? null : host.unixSocket().toString();
            if (keptHost != null && !Objects.equals(keptHost.origin().socket(), socket)) {
                // The Unix socket has changed. It may lead to another server, whose health is not known.
                keptHost = null;
            }
            OriginHost renamed = old == null ? hostsOfRemovedGroups.get(host.url()) : null;
            hosts.add(
                    keptHost == null
                            ? new OriginHost(
                                    config.name(),
                                    host.url(),
                                    host.unixSocket(),
                                    renamed,
                                    event -> events.record(event))
                            : keptHost);
        }
        return new OriginGroup(config, hosts, selfHosts);
    }

    /** Creates the selection of hosts for a new event loop. */
    public LoopOrigins newLoop() {
        return new LoopOrigins(this);
    }

    /** The groups in the order of the configuration. */
    public Collection<OriginGroup> all() {
        return generation.now.values();
    }

    /**
     * Returns a group by its name.
     *
     * @throws IllegalArgumentException if neither the current configuration nor an earlier one contains the group
     */
    public OriginGroup find(String name) {
        Generation current = generation;
        OriginGroup found = current.now.getOrDefault(name, current.gone.get(name));
        if (found == null) {
            throw new IllegalArgumentException("no group of origins: " + name);
        }
        return found;
    }

    /**
     * Returns the current configuration of the group with this name. Returns the group's own configuration if the
     * group was removed.
     */
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
