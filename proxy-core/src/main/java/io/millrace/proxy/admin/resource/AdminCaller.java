package io.millrace.proxy.admin.resource;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The client of an admin request. Unknown parts are missing. Immutable.
 *
 * @param uid user of the process at the other end of the Unix domain socket; -1 when not known
 * @param token name of the token in the request; null without one
 * @param address client address, null on a Unix domain socket
 */
public record AdminCaller(
        long uid, @Nullable String token, @Nullable String address) {
    /** The field that passes the client from the launcher to its worker. */
    public static final String FIELD_NAME = "Millrace-Admin-Caller";

    /** An unknown client. */
    public static final AdminCaller UNKNOWN = new AdminCaller(-1, null, null);

    private static final String UID = "uid=";
    private static final String TOKEN = "token=";
    private static final String ADDRESS = "address=";

    /** Returns the value for {@link #FIELD_NAME}. */
    public String text() {
        List<String> parts = new ArrayList<>(3);
        if (uid >= 0) {
            parts.add(UID + uid);
        }
        if (token != null) {
            parts.add(TOKEN + token);
        }
        if (address != null) {
            parts.add(ADDRESS + address);
        }
        return String.join(" ", parts);
    }

    /** Parses the result of {@link #text}; unknown parts are skipped. */
    public static AdminCaller parse(String text) {
        long uid = -1;
        String token = null;
        String address = null;
        for (String part : text.split(" ", -1)) {
            if (part.startsWith(UID)) {
                uid = uid(part.substring(UID.length()));
            } else if (part.startsWith(TOKEN)) {
                token = part.substring(TOKEN.length());
            } else if (part.startsWith(ADDRESS)) {
                address = part.substring(ADDRESS.length());
            }
        }
        return new AdminCaller(uid, token, address);
    }

    private static long uid(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
