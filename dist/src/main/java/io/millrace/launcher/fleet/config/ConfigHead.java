package io.millrace.launcher.fleet.config;

import io.millrace.launcher.fleet.config.RefusedRevisionException.Reason;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.Json;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The entry of the store that names the revision that each node must apply. A node replaces it only if its version is
 * unchanged, so that one of several concurrent decisions wins. Immutable.
 *
 * @param isCanary whether only the canary nodes of the current revision apply it
 * @param current the newest revision
 * @param previous the revision that other nodes apply during a canary; null for none
 * @param fallback the signed revision that replaces the current one if the canary fails; null without a canary
 * @param reserved highest number of a revision that was signed, including the fallback
 * @param failed number of the latest revision that was rolled back because its canary failed; 0 for none since the last
 *     push
 * @param reason why the canary failed, for example a figure with its value and its limit; empty if {@code failed} is 0
 */
public record ConfigHead(
        boolean isCanary,
        SignedRevision current,
        @Nullable SignedRevision previous,
        @Nullable SignedRevision fallback,
        long reserved,
        long failed,
        String reason) {
    /** The key of the entry. */
    static final String KEY = "head";

    private static final long FORMAT_VERSION = 1;

    /** Returns the revision that a node must apply; null for none. */
    @Nullable
    SignedRevision of(String node) {
        return isCanary && !current.statement().canary().contains(node) ? previous : current;
    }

    /** Returns all revisions that the head names. */
    List<SignedRevision> revisions() {
        List<SignedRevision> named = new ArrayList<>(List.of(current));
        if (previous != null) {
            named.add(previous);
        }
        if (fallback != null) {
            named.add(fallback);
        }
        return named;
    }

    /** Returns the head after a canary that passed. */
    ConfigHead passed() {
        return new ConfigHead(false, current, previous, null, reserved, 0, "");
    }

    /** Returns the head after a canary that failed. */
    ConfigHead failed(String why) {
        SignedRevision next = Objects.requireNonNull(fallback, "fallback");
        return new ConfigHead(false, next, previous, null, reserved, current.revision(), why);
    }

    /**
     * Verifies the signatures of the current revision and of the fallback, and that the fallback may replace it.
     *
     * @throws RefusedRevisionException if the head must not be believed
     */
    void verify(PublicKey key, String fleet) throws RefusedRevisionException {
        current.verify(key, fleet);
        if (fallback != null) {
            verifyFallback(fallback, current.statement(), previous, key, fleet);
        }
    }

    /**
     * Verifies the revision that replaces a canary if the canary fails.
     *
     * @param canary the statement of the canary
     * @param previous the revision before the canary; null for none
     */
    static void verifyFallback(
            SignedRevision fallback,
            RevisionStatement canary,
            @Nullable SignedRevision previous,
            PublicKey key,
            String fleet)
            throws RefusedRevisionException {
        fallback.verify(key, fleet);
        String content =
                previous == null ? RevisionStatement.NONE : previous.statement().content();
        if (fallback.revision() != canary.revision() + 1
                || !fallback.statement().canary().isEmpty()
                || !fallback.statement().content().equals(content)) {
            throw new RefusedRevisionException(
                    Reason.MALFORMED,
                    "the fallback of a canary must be the next revision, for all nodes, with the content of the"
                            + " revision before the canary");
        }
    }

    byte[] bytes() {
        return AdminReply.json(json -> {
                    json.writeNumberProperty("v", FORMAT_VERSION);
                    json.writeBooleanProperty("canary", isCanary);
                    json.writeNumberProperty("reserved", reserved);
                    json.writeNumberProperty("failed", failed);
                    json.writeStringProperty("reason", reason);
                    write(json, "current", current);
                    write(json, "previous", previous);
                    write(json, "fallback", fallback);
                })
                .body();
    }

    private static void write(JsonGenerator json, String name, @Nullable SignedRevision signed) {
        if (signed != null) {
            json.writeStringProperty(name, signed.statement().text());
            json.writeStringProperty(name + "_signature", signed.signature());
        }
    }

    static ConfigHead read(byte[] bytes) throws RefusedRevisionException {
        try {
            Map<String, Object> members = Json.members(bytes);
            Long reserved = Json.member(members, "reserved", Long.class);
            Long failed = Json.member(members, "failed", Long.class);
            String reason = Json.member(members, "reason", String.class);
            SignedRevision current = signed(members, "current");
            if (!Long.valueOf(FORMAT_VERSION).equals(members.get("v")) || current == null) {
                throw new RefusedRevisionException(
                        Reason.MALFORMED,
                        "the head of the configuration has version " + members.get("v") + ", supported is "
                                + FORMAT_VERSION);
            }
            boolean isCanary = Boolean.TRUE.equals(members.get("canary"));
            SignedRevision fallback = signed(members, "fallback");
            if (isCanary && fallback == null) {
                throw new RefusedRevisionException(
                        Reason.MALFORMED, "the head of the configuration has a canary without a fallback");
            }
            // This number is not signed. A wrong one must not use up the numbers of revisions.
            long unsigned = reserved != null && RevisionStatement.isNumber(reserved) ? reserved : 0;
            long signed = Math.max(current.revision(), fallback == null ? 0 : fallback.revision());
            return new ConfigHead(
                    isCanary,
                    current,
                    signed(members, "previous"),
                    fallback,
                    Math.max(unsigned, signed),
                    failed == null ? 0 : failed,
                    reason == null ? "" : reason);
        } catch (AdminException e) {
            throw new RefusedRevisionException(
                    Reason.MALFORMED, "the head of the configuration is malformed: " + e.message());
        }
    }

    private static @Nullable SignedRevision signed(Map<String, Object> members, String name)
            throws AdminException, RefusedRevisionException {
        String text = Json.member(members, name, String.class);
        String signature = Json.member(members, name + "_signature", String.class);
        return text == null ? null : SignedRevision.parse(text, signature == null ? "" : signature);
    }
}
