package io.millrace.proxy.origin;

import java.util.IdentityHashMap;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Selects origin hosts of all groups for the requests of one event loop. Uses only the load and round-robin state
 * of this loop. Confined to this event loop.
 */
public final class LoopOrigins {
    private final OriginGroups groups;
    private final IdentityHashMap<OriginGroup, GroupView> views = new IdentityHashMap<>();
    private final IdentityHashMap<OriginHost, HostLoad> loads = new IdentityHashMap<>();
    private final SplittableRandom random = new SplittableRandom();

    LoopOrigins(OriginGroups groups) {
        this.groups = groups;
    }

    /**
     * Begins the tries of one request.
     *
     * @param group name of a group in the current configuration or an earlier one
     * @param key the hash key of the request, for policies that hash
     */
    public GroupTries begin(String group, GroupTries.Key key, long nowMillis) {
        OriginGroup found = groups.find(group);
        return new GroupTries(view(found), key.hash(found.config()), nowMillis);
    }

    /**
     * Returns the host to which a new request would be sent now, without side effects.
     *
     * @param key hash of the key, for policies that hash
     * @param mayMove whether the request could be retried on another host if the returned host fails
     * @return null if no host is available
     */
    public @Nullable OriginHost preview(OriginGroup group, long key, boolean mayMove, long nowMillis) {
        boolean mayBeginTrialAtOnce = mayMove && group.config().retry().tries() > 1;
        GroupView view = view(group);
        int chosen = view.preview(key, mayBeginTrialAtOnce, nowMillis);
        return chosen < 0 ? null : view.host(chosen);
    }

    private GroupView view(OriginGroup group) {
        GroupView view = views.get(group);
        if (view == null) {
            removeUnused();
            view = new GroupView(
                    groups, group, group.hosts().stream().map(this::load).toList(), random);
            views.put(group, view);
        }
        return view;
    }

    private HostLoad load(OriginHost host) {
        return loads.computeIfAbsent(host, OriginHost::newLoad);
    }

    /**
     * Drops the state of groups and hosts that a reload has removed. Requests in progress keep their own references.
     */
    private void removeUnused() {
        views.keySet().removeIf(group -> !groups.isCurrent(group));
        loads.keySet().removeIf(host -> !groups.isCurrent(host));
    }
}
