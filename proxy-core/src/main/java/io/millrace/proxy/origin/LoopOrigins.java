package io.millrace.proxy.origin;

import java.util.IdentityHashMap;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The groups as one event loop sees them: it chooses by its own requests under way, and in its own turn. Confined to its event loop.
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
     * Begins the search for a host.
     *
     * @param group the name of a group of the configuration, or of one before it
     * @param key what decides by policies that hash
     */
    public GroupTries begin(String group, GroupTries.Key key, long nowMillis) {
        OriginGroup found = groups.find(group);
        return new GroupTries(view(found), key.hash(found.config()), nowMillis);
    }

    /**
     * The host that a request would be given now, without giving it one.
     *
     * @param key the hash of what decides by policies that hash
     * @param mayMove whether another host can have the request if that one does not answer it
     * @return null when there is none
     */
    public @Nullable OriginHost preview(OriginGroup group, long key, boolean mayMove, long nowMillis) {
        boolean mayGoOnTrial = mayMove && group.config().retry().tries() > 1;
        GroupView view = view(group);
        int chosen = view.preview(key, mayGoOnTrial, nowMillis);
        return chosen < 0 ? null : view.host(chosen);
    }

    private GroupView view(OriginGroup group) {
        GroupView view = views.get(group);
        if (view == null) {
            forgetOld();
            view = new GroupView(
                    groups, group, group.hosts().stream().map(this::load).toList(), random);
            views.put(group, view);
        }
        return view;
    }

    private HostLoad load(OriginHost host) {
        return loads.computeIfAbsent(host, OriginHost::newLoad);
    }

    /** What a reload took away; its calls under way have what they need. */
    private void forgetOld() {
        views.keySet().removeIf(group -> !groups.isCurrent(group));
        loads.keySet().removeIf(host -> !groups.isCurrent(host));
    }
}
