package io.millrace.proxy.admin.copy;

import io.millrace.proxy.admin.copy.CopyTarget.NewCopy;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.Json;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Parses admin requests that store a response from another node. Stateless.
 *
 * <p>{@code millctl cache import} sends them: JSON members, and query parameters for the parts of long content.
 */
final class Uploads {
    private static final List<String> MEMBERS = List.of(
            "url",
            "head",
            "request_method",
            "request_fields",
            "length",
            "age_seconds",
            "requested_at_ms",
            "exported_at_ms",
            "freshness_lifetime_seconds",
            "tags",
            "content",
            "sha256");

    private Uploads() {}

    /** Reads a number that is not negative. */
    static long number(String text, String name) throws AdminException {
        try {
            long number = Long.parseLong(text);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw notANumber(name, text);
        }
        throw notANumber(name, text);
    }

    private static AdminException notANumber(String name, String text) {
        return new AdminException(400, "bad-request", name + ": actual=" + text + ", expected=a number from 0");
    }

    static Map<String, Object> members(byte[] body) throws AdminException {
        Map<String, Object> members = Json.members(body);
        Json.onlyMembers(members, MEMBERS);
        return members;
    }

    /** Reads a response from the members of a request. */
    static NewCopy copy(Map<String, Object> members) throws AdminException {
        String url = Json.member(members, "url", String.class);
        byte[] head = bytes(members, "head");
        if (url == null || head == null) {
            throw new AdminException(400, "bad-request", "the members 'url' and 'head' are required");
        }
        byte[] tags = bytes(members, "tags");
        String method = Json.member(members, "request_method", String.class);
        return new NewCopy(
                url,
                head,
                method == null ? "GET" : method,
                members.containsKey("request_fields") ? Json.list(members, "request_fields") : null,
                required(members, "length"),
                required(members, "age_seconds"),
                required(members, "requested_at_ms"),
                required(members, "exported_at_ms"),
                Math.max(-1, number(members, "freshness_lifetime_seconds", -1)),
                tags == null ? new byte[0] : tags);
    }

    private static long required(Map<String, Object> members, String name) throws AdminException {
        long number = number(members, name, -1);
        if (number < 0) {
            throw new AdminException(400, "bad-request", "the member '" + name + "' is required, a number from 0");
        }
        return number;
    }

    private static long number(Map<String, Object> members, String name, long defaultValue) throws AdminException {
        Long number = Json.member(members, name, Long.class);
        return number == null ? defaultValue : number;
    }

    /** Reads bytes in base64; null without the member. */
    static byte @Nullable [] bytes(Map<String, Object> members, String name) throws AdminException {
        String text = Json.member(members, name, String.class);
        try {
            return text == null ? null : Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw new AdminException(400, "bad-request", "the member '" + name + "' is not base64");
        }
    }
}
