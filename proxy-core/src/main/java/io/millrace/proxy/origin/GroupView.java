package io.millrace.proxy.origin;

import io.millrace.proxy.config.origins.OriginGroupConfig;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;

/** Selects hosts of one origin group for the requests of one event loop. Confined to this event loop. */
final class GroupView {
    /** Weight of a host at the beginning of its slow start, in hundredths of the configured weight. */
    private static final int SLOW_START_MIN = Candidates.WEIGHT_UNIT / 10;

    /** A subset of the hosts from which a host is selected. */
    private enum Ring {
        /** The primaries that are up or due for a trial. */
        PRIMARY,
        /** The backups that are up or due for a trial. */
        BACKUP,
        /**
         * All primaries, including hosts that are down, except hosts that an operator has taken down. Used if no
         * other host is available, and to find the host to which a URL is hashed.
         */
        ANY_PRIMARY,
        /** All backups, including hosts that are down, except hosts that an operator has taken down. */
        ANY_BACKUP
    }

    private static final Ring[] RINGS = Ring.values();

    /**
     * Number of the rings that contain only hosts that are up or due for a trial. They come first in {@link #RINGS}.
     */
    private static final int HEALTHY_RINGS = 2;

    private final OriginGroups groups;
    private final OriginGroup group;
    private final List<HostLoad> loads;
    private final SplittableRandom random;
    private final Candidates candidates;
    private boolean onTrial;
    /**
     * True if this proxy itself is a candidate: set while the owner (the sibling proxy that caches the URL) is
     * computed.
     */
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

    /**
     * The rules of passive mark-down in the current configuration. The request may have begun with an older
     * configuration.
     */
    OriginGroupConfig.Markdown markdown() {
        return groups.current(group).markdown();
    }

    OriginHost host(int index) {
        return group.hosts().get(index);
    }

    HostLoad load(int index) {
        return loads.get(index);
    }

    /** A random number from 0 to 1. */
    double jitter() {
        return random.nextDouble();
    }

    /**
     * Selects a host for a request. A trial is a request that tests whether a host has recovered. The default ring
     * mode of a group considers the hosts in this order: primaries that are up or due for a trial, backups that are up
     * or due for a trial, and hosts that are down, unless the group's settings forbid them. {@link
     * OriginGroupConfig.RingMode} describes the other ring modes.
     *
     * @param tried hosts that must not be selected
     * @param mayBeginTrialAtOnce true for the first attempt of a request that can be retried on another host. It can
     *     begin a trial as soon as one is due. Any other attempt can begin the trial only one retry interval later
     * @return index of the host; -1 for none
     */
    int choose(long key, BitSet tried, boolean mayBeginTrialAtOnce, long nowMillis) {
        return switch (group.config().ringMode()) {
            case EXHAUST_RING -> chooseByHealth(key, tried, mayBeginTrialAtOnce, nowMillis);
            case ALTERNATE_RING -> chooseAlternating(key, tried, mayBeginTrialAtOnce, nowMillis);
            case PEERING_RING -> chooseAmongPeers(key, tried, mayBeginTrialAtOnce, nowMillis);
        };
    }

    /**
     * Selects the host to which the URL is hashed. If that host is down or was tried, alternates between backups
     * and primaries.
     */
    private int chooseAlternating(long key, BitSet tried, boolean mayBeginTrialAtOnce, long nowMillis) {
        if (tried.isEmpty()) {
            int primaryOfKey = primaryOfKey(key, tried, mayBeginTrialAtOnce, nowMillis);
            if (primaryOfKey >= 0) {
                return primaryOfKey;
            }
        }
        int backups = 0;
        for (int i = tried.nextSetBit(0); i >= 0; i = tried.nextSetBit(i + 1)) {
            backups += group.config().hosts().get(i).backup() ? 1 : 0;
        }
        boolean isForBackup = tried.isEmpty() || tried.cardinality() - backups > backups;
        int chosen = choose(isForBackup ? Ring.BACKUP : Ring.PRIMARY, key, tried, mayBeginTrialAtOnce, nowMillis);
        return chosen >= 0 ? chosen : chooseByHealth(key, tried, mayBeginTrialAtOnce, nowMillis);
    }

    /**
     * Returns the primary to which the URL is hashed. Returns -1 unless that host is up or this request is its trial.
     */
    private int primaryOfKey(long key, BitSet tried, boolean mayBeginTrialAtOnce, long nowMillis) {
        onTrial = false;
        int primaryOfKey = weigh(candidates, Ring.ANY_PRIMARY, tried, mayBeginTrialAtOnce, nowMillis)
                ? group.policy().choose(candidates, key)
                : -1;
        if (primaryOfKey < 0 || host(primaryOfKey).health().isUp(nowMillis)) {
            return primaryOfKey;
        }
        onTrial = weight(Ring.PRIMARY, primaryOfKey, mayBeginTrialAtOnce, nowMillis) > 0
                && host(primaryOfKey).beginTrial(nowMillis);
        return onTrial ? primaryOfKey : -1;
    }

    /**
     * Selects the sibling proxy that owns the URL. If this proxy is the owner, or if this request has already
     * tried a host, selects a backup. Returns -1 if there is none.
     */
    private int chooseAmongPeers(long key, BitSet tried, boolean mayBeginTrialAtOnce, long nowMillis) {
        if (tried.isEmpty()) {
            peering = true;
            int owner = choose(Ring.PRIMARY, key, tried, mayBeginTrialAtOnce, nowMillis);
            peering = false;
            if (owner >= 0 && !group.isSelf(owner)) {
                return owner;
            }
            onTrial = false;
        }
        int chosen = choose(Ring.BACKUP, key, tried, mayBeginTrialAtOnce, nowMillis);
        return chosen >= 0 || group.config().whenAllDown() == OriginGroupConfig.WhenAllDown.FAIL
                ? chosen
                : choose(Ring.ANY_BACKUP, key, tried, mayBeginTrialAtOnce, nowMillis);
    }

    private int chooseByHealth(long key, BitSet tried, boolean mayBeginTrialAtOnce, long nowMillis) {
        boolean fail = group.config().whenAllDown() == OriginGroupConfig.WhenAllDown.FAIL;
        int rings = fail ? HEALTHY_RINGS : RINGS.length;
        for (int i = 0; i < rings; i++) {
            int chosen = choose(RINGS[i], key, tried, mayBeginTrialAtOnce, nowMillis);
            if (chosen >= 0) {
                return chosen;
            }
        }
        return -1;
    }

    /**
     * Selects among the hosts that are up or due for a trial.
     *
     * @param excluded hosts that must not be selected
     * @return index of the host; -1 for none
     */
    int chooseHealthy(long key, BitSet excluded, long nowMillis) {
        for (int i = 0; i < HEALTHY_RINGS; i++) {
            int chosen = choose(RINGS[i], key, excluded, false, nowMillis);
            if (chosen >= 0) {
                return chosen;
            }
        }
        return -1;
    }

    /**
     * Returns the host that {@link #choose} would select for a new request. Has no side effects: changes no
     * policy state and begins no trial.
     */
    int preview(long key, boolean mayBeginTrialAtOnce, long nowMillis) {
        OriginGroupConfig.RingMode mode = group.config().ringMode();
        boolean fail = group.config().whenAllDown() == OriginGroupConfig.WhenAllDown.FAIL;
        if (mode == OriginGroupConfig.RingMode.ALTERNATE_RING) {
            int primaryOfKey = previewRing(Ring.ANY_PRIMARY, key, mayBeginTrialAtOnce, nowMillis);
            if (primaryOfKey >= 0 && weight(Ring.PRIMARY, primaryOfKey, mayBeginTrialAtOnce, nowMillis) > 0) {
                return primaryOfKey;
            }
            int other = previewRing(Ring.BACKUP, key, mayBeginTrialAtOnce, nowMillis);
            if (other >= 0) {
                return other;
            }
        }
        if (mode == OriginGroupConfig.RingMode.PEERING_RING) {
            peering = true;
            int owner = previewRing(Ring.PRIMARY, key, mayBeginTrialAtOnce, nowMillis);
            peering = false;
            if (owner >= 0 && !group.isSelf(owner)) {
                return owner;
            }
            int upstream = previewRing(Ring.BACKUP, key, mayBeginTrialAtOnce, nowMillis);
            return upstream >= 0 || fail ? upstream : previewRing(Ring.ANY_BACKUP, key, mayBeginTrialAtOnce, nowMillis);
        }
        int chosen = -1;
        for (int i = 0; chosen < 0 && i < (fail ? HEALTHY_RINGS : RINGS.length); i++) {
            chosen = previewRing(RINGS[i], key, mayBeginTrialAtOnce, nowMillis);
        }
        return chosen;
    }

    private int previewRing(Ring ring, long key, boolean mayBeginTrialAtOnce, long nowMillis) {
        Candidates copy = candidates.copy();
        return weigh(copy, ring, new BitSet(0), mayBeginTrialAtOnce, nowMillis)
                ? group.policy().choose(copy, key)
                : -1;
    }

    /** Returns true if the last selection began a trial of its host. */
    boolean isOnTrial() {
        return onTrial;
    }

    private int choose(Ring ring, long key, BitSet tried, boolean mayBeginTrialAtOnce, long nowMillis) {
        onTrial = false;
        if (!weigh(candidates, ring, tried, mayBeginTrialAtOnce, nowMillis)) {
            return -1;
        }
        int chosen = group.policy().choose(candidates, key);
        while (chosen >= 0 && needsTrial(ring, chosen)) {
            if (host(chosen).beginTrial(nowMillis)) {
                onTrial = true;
                break;
            }
            // Another event loop has begun the trial.
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

    /** Sets the weights for a selection. Returns false if no host can be selected. */
    private boolean weigh(Candidates all, Ring ring, BitSet tried, boolean mayBeginTrialAtOnce, long nowMillis) {
        boolean any = false;
        for (int i = 0; i < all.size(); i++) {
            int weight = tried.get(i) ? 0 : weight(ring, i, mayBeginTrialAtOnce, nowMillis);
            all.weights[i] = weight;
            // The load of this proxy itself is not known, so the owner of a URL is chosen without regard to load.
            all.underWay[i] = peering ? 0 : loads.get(i).underWay();
            any |= weight > 0;
        }
        return any;
    }

    private int weight(Ring ring, int index, boolean mayBeginTrialAtOnce, long nowMillis) {
        OriginGroupConfig.Host config = group.config().hosts().get(index);
        if (config.backup() != (ring == Ring.BACKUP || ring == Ring.ANY_BACKUP)) {
            return 0;
        }
        if (group.isSelf(index)) {
            // This proxy stays the owner of its URLs even if an operator of this proxy has marked it down: siblings
            // still regard it as the owner, and would send a forwarded request back.
            return peering ? config.weight() * Candidates.WEIGHT_UNIT : 0;
        }
        OriginHealth health = host(index).health();
        if (ring == Ring.ANY_PRIMARY || ring == Ring.ANY_BACKUP) {
            return health.isManuallyDown(nowMillis) ? 0 : config.weight() * Candidates.WEIGHT_UNIT;
        }
        if (health.isUp(nowMillis)) {
            return config.weight() * slowStartShare(health, nowMillis);
        }
        if (group.config().healthCheck() != null) {
            // No trials: health checks detect the recovery without risk to requests.
            return 0;
        }
        long delayMillis = mayBeginTrialAtOnce ? 0 : group.config().markdown().retryMillis();
        return health.isTrialDue(nowMillis, delayMillis) ? config.weight() * Candidates.WEIGHT_UNIT : 0;
    }

    /** Returns the share of its configured weight that a host has during slow start, in hundredths. */
    private int slowStartShare(OriginHealth health, long nowMillis) {
        long slowStartMillis = group.config().slowStartMillis();
        long elapsed = nowMillis - health.since();
        if (slowStartMillis == 0 || health.since() == 0 || elapsed >= slowStartMillis || elapsed < 0) {
            return Candidates.WEIGHT_UNIT;
        }
        return SLOW_START_MIN + (int) ((Candidates.WEIGHT_UNIT - SLOW_START_MIN) * elapsed / slowStartMillis);
    }
}
