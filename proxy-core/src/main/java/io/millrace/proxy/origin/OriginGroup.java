package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.fetch.FetchSettings;
import java.util.BitSet;
import java.util.List;

/** A group as it is configured, with its hosts. A reload with other settings makes another one over the hosts that stay. Immutable. */
public final class OriginGroup {
    private static final int STATUSES = 600;

    private final OriginGroupConfig config;
    private final List<OriginHost> hosts;
    private final SelectionPolicy policy;
    private final BitSet retried = new BitSet(STATUSES);
    private final BitSet failures = new BitSet(STATUSES);
    private final BitSet selves;

    /**
     * @param hosts in the order of the configuration
     * @param selves which of them are this proxy itself
     */
    OriginGroup(OriginGroupConfig config, List<OriginHost> hosts, BitSet selves) {
        this.config = config;
        this.selves = selves;
        this.hosts = List.copyOf(hosts);
        policy = SelectionPolicy.of(config.policy());
        config.retry().responseCodes().forEach(retried::set);
        config.markdown().codes().forEach(failures::set);
    }

    /** Whether it is what would be made of these. */
    boolean is(OriginGroupConfig other, BitSet otherSelves) {
        return config.equals(other) && selves.equals(otherSelves);
    }

    public String name() {
        return config.name();
    }

    public OriginGroupConfig config() {
        return config;
    }

    /** In the order of the configuration. */
    public List<OriginHost> hosts() {
        return hosts;
    }

    /** Whether the host at that place is this proxy itself, which is never asked. */
    public boolean isSelf(int index) {
        return selves.get(index);
    }

    /** Whether another host is tried after an answer of this status. */
    public boolean isRetried(int status) {
        return retried.get(status);
    }

    /** Whether an answer of this status is a failure of its host. */
    public boolean isFailure(int status) {
        return failures.get(status);
    }

    /** The settings for requests to its hosts, of which the group has some of its own. */
    public FetchSettings fetchSettings(FetchSettings general) {
        Integer connections = config.connectionsMax();
        Integer tunnels = config.tunnelsMax();
        Integer queue = config.queueMax();
        return connections == null && tunnels == null && queue == null
                ? general
                : general.withLimits(
                        connections == null ? general.connectionsMax() : connections,
                        tunnels == null ? general.tunnelsMax() : tunnels,
                        queue == null ? general.queueMax() : queue);
    }

    SelectionPolicy policy() {
        return policy;
    }
}
