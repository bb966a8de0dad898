package io.millrace.proxy.admin.origin;

import io.millrace.proxy.admin.origin.OriginControl.Host;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** {@code POST /v1/origins/down} and {@code POST /v1/origins/up}: marks hosts down or up. Thread-safe. */
public final class OriginChangeResource implements AdminResource {
    private static final int REASON_LENGTH_MAX = 200;
    private static final int SECONDS_DIGITS_MAX = 9;

    private final OriginControl control;
    private final boolean down;

    private OriginChangeResource(OriginControl control, boolean down) {
        this.control = control;
        this.down = down;
    }

    /** Creates {@code POST /v1/origins/down}. */
    public static OriginChangeResource down(OriginControl control) {
        return new OriginChangeResource(control, true);
    }

    /** Creates {@code POST /v1/origins/up}. */
    public static OriginChangeResource up(OriginControl control) {
        return new OriginChangeResource(control, false);
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return OriginsResource.PATH + (down ? "/down" : "/up");
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Map<String, String> members =
                Json.strings(request.body(), down ? Set.of("origin", "reason", "seconds") : Set.of("origin"));
        String origin = members.get("origin");
        if (origin == null || origin.isEmpty()) {
            throw badRequest("the member 'origin' is needed: the name of a group of origins, or a host of one");
        }
        String reason = members.getOrDefault("reason", "");
        if (reason.length() > REASON_LENGTH_MAX) {
            throw badRequest(
                    "the member 'reason' is too long: actual=" + reason.length() + ", limit=" + REASON_LENGTH_MAX);
        }
        CompletionStage<List<Host>> done =
                down ? control.down(origin, reason, seconds(members.getOrDefault("seconds", "0"))) : control.up(origin);
        responder.replyWhen(
                done,
                hosts -> AdminReply.json(
                        json -> OriginsResource.write(json, control.nowSeconds(), hosts, control.emptyGroups())));
    }

    private static long seconds(String text) throws AdminException {
        if (text.isEmpty()
                || text.length() > SECONDS_DIGITS_MAX
                || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw badRequest(
                    "the member 'seconds' is not a number of at most " + SECONDS_DIGITS_MAX + " digits: " + text);
        }
        return Long.parseLong(text);
    }

    private static AdminException badRequest(String message) {
        return new AdminException(400, "bad-request", message);
    }
}
