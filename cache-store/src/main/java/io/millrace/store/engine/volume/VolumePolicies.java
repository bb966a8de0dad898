package io.millrace.store.engine.volume;

import io.millrace.store.DiskAdmission;
import io.millrace.store.StoreKey;
import io.millrace.store.admission.AdmissionRule;
import io.millrace.store.admission.SpacePolicy;
import io.millrace.store.disk.PinPolicy;
import io.millrace.store.disk.Volume;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The admission and retention policies of the volumes. Their state survives the release of a volume to another process
 * and its return.
 *
 * <p>Thread-safe.
 */
public final class VolumePolicies {
    private final AdmissionRule rule;
    private final Pins pins;
    private final AtomicReferenceArray<@Nullable SpacePolicy> policies;

    VolumePolicies(DiskAdmission admission, boolean pinsHonoured, int volumes) {
        this.pins = new Pins(pinsHonoured);
        rule = switch (admission) {
            case ALWAYS -> AdmissionRule.ALWAYS;
            case SECOND_HIT -> AdmissionRule.SECOND_HIT;
            case FREQUENCY -> AdmissionRule.FREQUENCY;
        };
        policies = new AtomicReferenceArray<>(volumes);
    }

    /**
     * Sets the check that decides, from the bytes of key and head, whether a pinned object keeps its pin. A volume
     * keeps a pinned object until the end of its pin time.
     */
    public void pinCheck(BiPredicate<byte[], ByteBuf> check) {
        pins.check = check;
    }

    private static final class Pins implements PinPolicy {
        private final boolean honoured;
        private volatile BiPredicate<byte[], ByteBuf> check = (key, head) -> true;

        Pins(boolean honoured) {
            this.honoured = honoured;
        }

        @Override
        public boolean isHonoured() {
            return honoured;
        }

        @Override
        public boolean staysPinned(byte[] key, ByteBuf head) {
            return check.test(key, head);
        }
    }

    /** Sets the policies of a volume that has not started yet. */
    void attach(int number, Volume volume) {
        int segments = volume.superblock().segmentCount();
        SpacePolicy policy = policies.get(number);
        if (policy == null || policy.segments() != segments) {
            policy = new SpacePolicy(rule, volume.bytesMax(), segments);
            policies.set(number, policy);
        }
        volume.setReclaimPolicies(policy, pins);
    }

    private @Nullable SpacePolicy policy(int number) {
        return number < 0 || number >= policies.length() ? null : policies.get(number);
    }

    /** Counts a request for the key on every volume, because the volume that stores its objects is not known. */
    public void recordRequest(StoreKey key) {
        for (int number = 0; number < policies.length(); number++) {
            recordRequest(number, key.hashLow());
        }
    }

    /**
     * Counts a request for a key on one volume, which holds the key or may store it. {@code hashLow} is the lower half
     * of the key's hash.
     */
    public void recordRequest(int number, long hashLow) {
        SpacePolicy policy = policy(number);
        if (policy != null) {
            policy.recordRequest(hashLow);
        }
    }

    /**
     * Returns true if the volume admits a new object of the key. An object is always admitted if it is pinned, or if
     * the volume may already hold its key.
     */
    public boolean admits(int number, Volume volume, StoreKey key, long pinnedUntilSeconds) {
        SpacePolicy policy = policy(number);
        return policy == null
                || policy.isAdmittingAll()
                || isPinned(pinnedUntilSeconds)
                || volume.mayHold(key.hashHigh(), key.hashLow())
                || policy.admits(key.hashLow());
    }

    private boolean isPinned(long untilSeconds) {
        return pins.isHonoured() && untilSeconds > 0 && untilSeconds > System.currentTimeMillis() / 1000;
    }

    /** Returns the number of new objects that the volume did not admit. */
    public long refusals(int number) {
        SpacePolicy policy = policy(number);
        return policy == null ? 0 : policy.refusals();
    }
}
