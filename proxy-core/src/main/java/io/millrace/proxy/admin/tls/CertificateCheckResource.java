package io.millrace.proxy.admin.tls;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** {@code GET /v1/tls/check}: the check of a certificate file. Thread-safe. */
public final class CertificateCheckResource implements AdminResource {
    static final String PATH = "/v1/tls/check";

    private final CertificatesSource source;

    /** Creates the resource for a proxy's certificates. */
    public CertificateCheckResource(CertificatesSource source) {
        this.source = source;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return PATH;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Path file = path("file", request.parameter("file"));
        String key = request.optionalParameter("key");
        responder.replyWhen(
                source.check(file, key == null ? null : path("key", key)),
                checked -> AdminReply.json(json -> CertificatesResource.write(
                        json,
                        source.nowSeconds(),
                        checked.certificates().size(),
                        checked.certificates(),
                        checked.directories())));
    }

    private static Path path(String parameter, String text) throws AdminException {
        try {
            Path path = Path.of(text);
            if (path.isAbsolute()) {
                return path;
            }
        } catch (InvalidPathException e) {
            throw notPath(parameter, text);
        }
        throw notPath(parameter, text);
    }

    private static AdminException notPath(String parameter, String text) {
        return new AdminException(400, "bad-request", parameter + ": actual=" + text + ", expected an absolute path");
    }
}
