package io.millrace.proxy.caching.settings;

/** Properties of status codes for caching (RFC 9110 s15.1; RFC 9111 s3, s5.2.2.3). */
public final class StatusCodes {

    private StatusCodes() {}

    /** Returns true if a response without explicit lifetime may get a heuristic one (RFC 9110 s15.1). */
    public static boolean isHeuristicallyCacheable(int status) {
        return switch (status) {
            case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501 -> true;
            default -> false;
        };
    }

    /** Returns true if this cache implements the code's caching requirements, as {@code must-understand} requires. */
    public static boolean isUnderstood(int status) {
        return switch (status) {
            case 200, 201, 202, 203, 204, 205 -> true;
            case 300, 301, 302, 303, 305, 307, 308 -> true;
            case 400,
                    401,
                    402,
                    403,
                    404,
                    405,
                    406,
                    407,
                    408,
                    409,
                    410,
                    411,
                    412,
                    413,
                    414,
                    415,
                    416,
                    417,
                    421,
                    422,
                    426 -> true;
            case 428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 511 -> true;
            default -> false;
        };
    }
}
