package io.millrace.proxy.origin;

import java.util.IdentityHashMap;
import java.util.SplittableRandom;

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
        GroupView view = views.get(found);
        if (view == null) {
            forgetOld();
            view = new GroupView(found, found.hosts().stream().map(this::load).toList(), random);
            views.put(found, view);
        }
        return new GroupTries(view, key.hash(found.config()), nowMillis);
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
