package io.millrace.proxy.admin.resource;

import java.util.Locale;

/** The format of error answers. It depends on the API of the requested path. */
public enum ErrorShape {
    /** {@code {"error":{"code":...,"message":...}}}. */
    MILLRACE {
        @Override
        public AdminReply reply(AdminException error) {
            return AdminReply.error(error);
        }
    },
    /** As Fastly's API: {@code {"msg":...,"detail":...}}. */
    FASTLY {
        @Override
        public AdminReply reply(AdminException error) {
            return AdminReply.json(error.status(), json -> {
                        json.writeStringProperty("msg", error.code());
                        json.writeStringProperty("detail", error.message());
                    })
                    .withErrorCode(error.code());
        }
    },
    /** As Cloudflare's API: {@code {"success":false,"errors":[{"code":...,"message":...}],...}}. */
    CLOUDFLARE {
        @Override
        public AdminReply reply(AdminException error) {
            return AdminReply.json(error.status(), json -> {
                        json.writeBooleanProperty("success", false);
                        json.writeArrayPropertyStart("errors");
                        json.writeStartObject();
                        json.writeNumberProperty("code", number(error.status()));
                        json.writeStringProperty("message", error.message());
                        json.writeEndObject();
                        json.writeEndArray();
                        json.writeArrayPropertyStart("messages");
                        json.writeEndArray();
                        json.writeNullProperty("result");
                    })
                    .withErrorCode(error.code());
        }
    };

    private static final int CLOUDFLARE_AUTHENTICATION = 10000;
    private static final int CLOUDFLARE_INVALID_BODY = 1012;

    /** Returns the error number of Cloudflare's API for an HTTP status. */
    private static int number(int status) {
        return status == 401 || status == 403
                ? CLOUDFLARE_AUTHENTICATION
                : status == 400 ? CLOUDFLARE_INVALID_BODY : 1000 + status;
    }

    /** Returns the error as an answer in this format. */
    public abstract AdminReply reply(AdminException error);

    /** Returns the format for a request path. */
    public static ErrorShape of(String path) {
        String lower = path.toLowerCase(Locale.ROOT);
        if (lower.startsWith("/service/")) {
            return FASTLY;
        }
        return lower.startsWith("/zones/") || lower.startsWith("/client/v4/") ? CLOUDFLARE : MILLRACE;
    }
}
