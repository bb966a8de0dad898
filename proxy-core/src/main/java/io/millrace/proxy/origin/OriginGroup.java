package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.fetch.FetchSettings;
import java.util.BitSet;
import java.util.List;

/**
 * A group of origin hosts, with its configuration. If a reload changes the settings, a new object replaces this object,
 * and takes over the hosts that remain. Immutable.
 */
public final class OriginGroup {
    /** Number of status codes, from 0 to 599. */
    private static final int STATUSES = 600;

    private final OriginGroupConfig config;
    private final List<OriginHost> hosts;
    private final SelectionPolicy policy;
    private final BitSet retried = new BitSet(STATUSES);
    private final BitSet failures = new BitSet(STATUSES);
    private final BitSet selfHosts;

    /**
     * @param hosts hosts in the order of the configuration
     * @param selfHosts indexes of the hosts that are this proxy itself, which occurs in groups of sibling proxies
     */
    OriginGroup(OriginGroupConfig config, List<OriginHost> hosts, BitSet selfHosts) {
        this.config = config;
        this.selfHosts = selfHosts;
        this.hosts = List.copyOf(hosts);
        policy = SelectionPolicy.of(config.policy());
        config.retry().responseCodes().forEach(retried::set);
        config.markdown().codes().forEach(failures::set);
    }

    /** Returns true if a reload can keep this group: same configuration, same hosts that are this proxy itself. */
    boolean hasConfig(OriginGroupConfig other, BitSet otherSelfHosts) {
        return config.equals(other) && selfHosts.equals(otherSelfHosts);
    }

    public String name() {
        return config.name();
    }

    public OriginGroupConfig config() {
        return config;
    }

    /** The hosts in the order of the configuration. */
    public List<OriginHost> hosts() {
        return hosts;
    }

    /** Returns true if the host at this index is this proxy itself. Such a host never receives requests. */
    public boolean isSelf(int index) {
        return selfHosts.get(index);
    }

    /** Returns true if a response with this status leads to a retry on another host. */
    public boolean isRetried(int status) {
        return retried.get(status);
    }

    /** Returns true if a response with this status counts as a failure of its host. */
    public boolean isFailure(int status) {
        return failures.get(status);
    }

    /** Returns the general settings of origin requests, with the limits that this group overrides. */
    public FetchSettings fetchSettings(FetchSettings general) {
        Integer connections = config.connectionsMax();
        Integer total = config.connectionsTotalMax();
        Integer tunnels = config.tunnelsMax();
        Integer queue = config.queueMax();
        return connections == null && total == null && tunnels == null && queue == null
                ? general
                : general.withLimits(
                        connections == null ? general.connectionsMax() : connections,
                        total == null ? general.connectionsTotalMax() : total,
                        tunnels == null ? general.tunnelsMax() : tunnels,
                        queue == null ? general.queueMax() : queue);
    }

    SelectionPolicy policy() {
        return policy;
    }
}
