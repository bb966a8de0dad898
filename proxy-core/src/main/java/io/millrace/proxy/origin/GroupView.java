package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;

/** One group as one event loop sees it. Confined to its event loop. */
final class GroupView {
    /** The part of its weight that slow start begins with. */
    private static final int SLOW_START_LEAST = Candidates.WEIGHT_UNIT / 10;

    /** Which hosts are looked at. */
    private enum Ring {
        PRIMARY,
        BACKUP,
        /** Whatever is not put down by an operator, as there is nobody else. */
        ANY_PRIMARY,
        ANY_BACKUP
    }

    private static final Ring[] RINGS = Ring.values();

    /** How many of them hold to what is known of the hosts. */
    private static final int CAREFUL_RINGS = 2;

    private final OriginGroups groups;
    private final OriginGroup group;
    private final List<HostLoad> loads;
    private final SplittableRandom random;
    private final Candidates candidates;
    private boolean onTrial;
    /** Whether this proxy is among those that are chosen from: then what it owns is found out. */
    private boolean peering;

    GroupView(OriginGroups groups, OriginGroup group, List<HostLoad> loads, SplittableRandom random) {
        this.groups = groups;
        this.group = group;
        this.loads = loads;
        this.random = random;
        candidates = new Candidates(
                group.hosts().stream().mapToLong(OriginHost::hash).toArray());
    }

    OriginGroup group() {
        return group;
    }

    /** When failures mark a host down, by what is configured now: a request may end under other rules than it began. */
    OriginGroupConfig.Markdown markdown() {
        return groups.current(group).markdown();
    }

    OriginHost host(int index) {
        return group.hosts().get(index);
    }

    HostLoad load(int index) {
        return loads.get(index);
    }

    /** 0 to 1. */
    double jitter() {
        return random.nextDouble();
    }

    /**
     * Chooses a host: of those that are up and those whose trial is due, first among the primaries, then among the backups; when
     * there is none, of those that are down, unless the group says otherwise.
     *
     * @param tried those that are out of the question
     * @param mayGoOnTrial whether another host can have the request if this one does not answer it; others go on trial only where
     *     no such request came for another while
     * @return its index, -1 for none
     */
    int choose(long key, BitSet tried, boolean mayGoOnTrial, long nowMillis) {
        return switch (group.config().ringMode()) {
            case EXHAUST_RING -> chooseByHealth(key, tried, mayGoOnTrial, nowMillis);
            case ALTERNATE_RING -> chooseAlternating(key, tried, mayGoOnTrial, nowMillis);
            case PEERING_RING -> chooseAmongPeers(key, tried, mayGoOnTrial, nowMillis);
        };
    }

    /** The URL's own host; where that is down, or was tried, one of the other ring, and then both in turn. */
    private int chooseAlternating(long key, BitSet tried, boolean mayGoOnTrial, long nowMillis) {
        if (tried.isEmpty()) {
            int home = home(key, tried, mayGoOnTrial, nowMillis);
            if (home >= 0) {
                return home;
            }
        }
        int backups = 0;
        for (int i = tried.nextSetBit(0); i >= 0; i = tried.nextSetBit(i + 1)) {
            backups += group.config().hosts().get(i).backup() ? 1 : 0;
        }
        boolean isForBackup = tried.isEmpty() || tried.cardinality() - backups > backups;
        int chosen = choose(isForBackup ? Ring.BACKUP : Ring.PRIMARY, key, tried, mayGoOnTrial, nowMillis);
        return chosen >= 0 ? chosen : chooseByHealth(key, tried, mayGoOnTrial, nowMillis);
    }

    /** The URL's own host among all primaries, if it is up or this is its trial; else -1. */
    private int home(long key, BitSet tried, boolean mayGoOnTrial, long nowMillis) {
        onTrial = false;
        int home = weigh(candidates, Ring.ANY_PRIMARY, tried, mayGoOnTrial, nowMillis)
                ? group.policy().choose(candidates, key)
                : -1;
        if (home < 0 || host(home).health().isUp(nowMillis)) {
            return home;
        }
        onTrial = weight(Ring.PRIMARY, home, mayGoOnTrial, nowMillis) > 0
                && host(home).beginTrial(nowMillis);
        return onTrial ? home : -1;
    }

    /** The sibling that owns the URL. For what this proxy owns, and where a sibling has failed, one of the backups; none where there are none. */
    private int chooseAmongPeers(long key, BitSet tried, boolean mayGoOnTrial, long nowMillis) {
        if (tried.isEmpty()) {
            peering = true;
            int owner = choose(Ring.PRIMARY, key, tried, mayGoOnTrial, nowMillis);
            peering = false;
            if (owner >= 0 && !group.isSelf(owner)) {
                return owner;
            }
            onTrial = false;
        }
        int chosen = choose(Ring.BACKUP, key, tried, mayGoOnTrial, nowMillis);
        return chosen >= 0 || group.config().whenAllDown() == OriginGroupConfig.WhenAllDown.FAIL
                ? chosen
                : choose(Ring.ANY_BACKUP, key, tried, mayGoOnTrial, nowMillis);
    }

    private int chooseByHealth(long key, BitSet tried, boolean mayGoOnTrial, long nowMillis) {
        boolean fail = group.config().whenAllDown() == OriginGroupConfig.WhenAllDown.FAIL;
        int rings = fail ? CAREFUL_RINGS : RINGS.length;
        for (int i = 0; i < rings; i++) {
            int chosen = choose(RINGS[i], key, tried, mayGoOnTrial, nowMillis);
            if (chosen >= 0) {
                return chosen;
            }
        }
        return -1;
    }

    /**
     * Chooses among the hosts that are up, alone.
     *
     * @param out those that are not to be chosen
     * @return its index, -1 for none
     */
    int chooseUp(long key, BitSet out, long nowMillis) {
        for (int i = 0; i < CAREFUL_RINGS; i++) {
            int chosen = choose(RINGS[i], key, out, false, nowMillis);
            if (chosen >= 0) {
                return chosen;
            }
        }
        return -1;
    }

    /** Whom {@link #choose} would choose first: nothing is remembered, no turn is taken and no trial begun. */
    int preview(long key, boolean mayGoOnTrial, long nowMillis) {
        OriginGroupConfig.RingMode mode = group.config().ringMode();
        boolean fail = group.config().whenAllDown() == OriginGroupConfig.WhenAllDown.FAIL;
        if (mode == OriginGroupConfig.RingMode.ALTERNATE_RING) {
            int home = previewRing(Ring.ANY_PRIMARY, key, mayGoOnTrial, nowMillis);
            if (home >= 0 && weight(Ring.PRIMARY, home, mayGoOnTrial, nowMillis) > 0) {
                return home;
            }
            int other = previewRing(Ring.BACKUP, key, mayGoOnTrial, nowMillis);
            if (other >= 0) {
                return other;
            }
        }
        if (mode == OriginGroupConfig.RingMode.PEERING_RING) {
            peering = true;
            int owner = previewRing(Ring.PRIMARY, key, mayGoOnTrial, nowMillis);
            peering = false;
            if (owner >= 0 && !group.isSelf(owner)) {
                return owner;
            }
            int upstream = previewRing(Ring.BACKUP, key, mayGoOnTrial, nowMillis);
            return upstream >= 0 || fail ? upstream : previewRing(Ring.ANY_BACKUP, key, mayGoOnTrial, nowMillis);
        }
        int chosen = -1;
        for (int i = 0; chosen < 0 && i < (fail ? CAREFUL_RINGS : RINGS.length); i++) {
            chosen = previewRing(RINGS[i], key, mayGoOnTrial, nowMillis);
        }
        return chosen;
    }

    private int previewRing(Ring ring, long key, boolean mayGoOnTrial, long nowMillis) {
        Candidates copy = candidates.copy();
        return weigh(copy, ring, new BitSet(0), mayGoOnTrial, nowMillis)
                ? group.policy().choose(copy, key)
                : -1;
    }

    /** Whether the host chosen last was chosen to see whether it is up again. */
    boolean isOnTrial() {
        return onTrial;
    }

    private int choose(Ring ring, long key, BitSet tried, boolean mayGoOnTrial, long nowMillis) {
        onTrial = false;
        if (!weigh(candidates, ring, tried, mayGoOnTrial, nowMillis)) {
            return -1;
        }
        int chosen = group.policy().choose(candidates, key);
        while (chosen >= 0 && needsTrial(ring, chosen)) {
            if (host(chosen).beginTrial(nowMillis)) {
                onTrial = true;
                break;
            }
            // Another loop tries it already.
            candidates.weights[chosen] = 0;
            chosen = group.policy().choose(candidates, key);
        }
        if (chosen >= 0) {
            candidates.last = chosen;
        }
        return chosen;
    }

    private boolean needsTrial(Ring ring, int index) {
        return (ring == Ring.PRIMARY || ring == Ring.BACKUP)
                && !group.isSelf(index)
                && host(index).health().state() != OriginHealth.State.UP;
    }

    /** Sets the weights for a choice; false when there is nobody to choose. */
    private boolean weigh(Candidates all, Ring ring, BitSet tried, boolean mayGoOnTrial, long nowMillis) {
        boolean any = false;
        for (int i = 0; i < all.size(); i++) {
            int weight = tried.get(i) ? 0 : weight(ring, i, mayGoOnTrial, nowMillis);
            all.weights[i] = weight;
            // Of what this proxy does itself nothing is counted, so that shares of the load would say nothing.
            all.underWay[i] = peering ? 0 : loads.get(i).underWay();
            any |= weight > 0;
        }
        return any;
    }

    private int weight(Ring ring, int index, boolean mayGoOnTrial, long nowMillis) {
        OriginGroupConfig.Host config = group.config().hosts().get(index);
        if (config.backup() != (ring == Ring.BACKUP || ring == Ring.ANY_BACKUP)) {
            return 0;
        }
        if (group.isSelf(index)) {
            // Put down or not: whoever passes on what it owns gets it back from siblings who do not know.
            return peering ? config.weight() * Candidates.WEIGHT_UNIT : 0;
        }
        OriginHealth health = host(index).health();
        if (ring == Ring.ANY_PRIMARY || ring == Ring.ANY_BACKUP) {
            return health.isPutDown(nowMillis) ? 0 : config.weight() * Candidates.WEIGHT_UNIT;
        }
        if (health.isUp(nowMillis)) {
            return config.weight() * warmth(health, nowMillis);
        }
        if (group.config().healthCheck() != null) {
            // Checks find out, at nobody's cost.
            return 0;
        }
        long leftToOthers = mayGoOnTrial ? 0 : group.config().markdown().retryMillis();
        return health.isTrialDue(nowMillis, leftToOthers) ? config.weight() * Candidates.WEIGHT_UNIT : 0;
    }

    /** Hundredths of its weight that a host has by slow start. */
    private int warmth(OriginHealth health, long nowMillis) {
        long whole = group.config().slowStartMillis();
        long elapsed = nowMillis - health.since();
        if (whole == 0 || health.since() == 0 || elapsed >= whole || elapsed < 0) {
            return Candidates.WEIGHT_UNIT;
        }
        return SLOW_START_LEAST + (int) ((Candidates.WEIGHT_UNIT - SLOW_START_LEAST) * elapsed / whole);
    }
}
