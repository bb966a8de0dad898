package io.millrace.store.engine;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreKey;
import io.millrace.store.admission.AdmissionRule;
import io.millrace.store.admission.SpacePolicy;
import io.millrace.store.disk.Volume;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What each volume takes and keeps; remembered while a volume is handed over and taken back.
 *
 * <p>Thread-safe.
 */
final class VolumePolicies {
    private final AdmissionRule rule;
    private final boolean pinsHonoured;
    private final AtomicReferenceArray<@Nullable SpacePolicy> policies;

    VolumePolicies(DiskAdmission admission, boolean pinsHonoured, int volumes) {
        this.pinsHonoured = pinsHonoured;
        rule = switch (admission) {
            case ALWAYS -> AdmissionRule.ALWAYS;
            case SECOND_HIT -> AdmissionRule.SECOND_HIT;
            case FREQUENCY -> AdmissionRule.FREQUENCY;
        };
        policies = new AtomicReferenceArray<>(volumes);
    }

    /** Makes a volume that is not started yet ask its policy. */
    void attach(int number, Volume volume) {
        int segments = volume.superblock().segmentCount();
        SpacePolicy policy = policies.get(number);
        if (policy == null || policy.segments() != segments) {
            policy = new SpacePolicy(rule, volume.bytesMax(), segments);
            policies.set(number, policy);
        }
        volume.keep(policy, pinsHonoured);
    }

    private @Nullable SpacePolicy policy(int number) {
        return number < 0 || number >= policies.length() ? null : policies.get(number);
    }

    /** The key was asked for; which volume is or will be its home is not known. */
    void requested(StoreKey key) {
        for (int number = 0; number < policies.length(); number++) {
            requested(number, key);
        }
    }

    /** The key, which the volume holds or will hold, was asked for. */
    void requested(int number, StoreKey key) {
        SpacePolicy policy = policy(number);
        if (policy != null) {
            policy.requested(key.hashLow());
        }
    }

    /**
     * Whether the volume takes a new object of the key. One that it may hold already is always replaced, one that is pinned
     * always taken.
     */
    boolean admits(int number, Volume volume, StoreKey key, long pinnedUntilSeconds) {
        SpacePolicy policy = policy(number);
        return policy == null
                || isPinned(pinnedUntilSeconds)
                || volume.mayHold(key.hashHigh(), key.hashLow())
                || policy.admits(key.hashLow());
    }

    private boolean isPinned(long untilSeconds) {
        return pinsHonoured && untilSeconds > 0 && untilSeconds > System.currentTimeMillis() / 1000;
    }

    /** New objects that the volume did not take. */
    long refused(int number) {
        SpacePolicy policy = policy(number);
        return policy == null ? 0 : policy.refused();
    }
}
