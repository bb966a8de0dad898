package io.millrace.proxy.admin.tls;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.tls.CertificatesSource.AutomaticCertificate;
import io.millrace.proxy.admin.tls.CertificatesSource.Certificate;
import io.millrace.proxy.admin.tls.CertificatesSource.Directory;
import io.millrace.proxy.admin.tls.CertificatesSource.Setting;
import io.millrace.proxy.admin.tls.CertificatesSource.Staple;
import java.util.List;
import java.util.Locale;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/tls/certificates}: TLS certificates, all or those for a name. Thread-safe. */
public final class CertificatesResource implements AdminResource {
    static final String PATH = "/v1/tls/certificates";

    /** Limit of certificates in one answer. */
    private static final int LISTED_MAX = 1000;

    private final CertificatesSource source;

    /** Creates the resource for a proxy's certificates. */
    public CertificatesResource(CertificatesSource source) {
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
        String name = request.optionalParameter("name");
        List<Certificate> matching = source.certificates().stream()
                .filter(each -> name == null || matches(each, name))
                .toList();
        // Certificates that need attention come first, because the answer may be truncated.
        List<Certificate> shown = matching.size() <= LISTED_MAX
                ? matching
                : matching.stream()
                        .sorted((a, b) -> Long.compare(urgency(a), urgency(b)))
                        .limit(LISTED_MAX)
                        .toList();
        List<AutomaticCertificate> automatic = source.automatic().stream()
                .filter(each -> name == null || each.name().equals(name.toLowerCase(Locale.ROOT)))
                .sorted((a, b) -> Integer.compare(b.failures(), a.failures()))
                .limit(LISTED_MAX)
                .toList();
        responder.reply(AdminReply.json(json -> {
            write(json, source.nowSeconds(), matching.size(), shown, source.directories());
            writeAutomatic(json, automatic);
        }));
    }

    /** Returns a sort key, the end of the validity; 0 for a certificate with a problem, which is listed first. */
    private static long urgency(Certificate certificate) {
        return certificate.problem() == null ? certificate.notAfter() : 0;
    }

    /** Returns true if a certificate is for this name. The name may also be the path of its file. */
    private static boolean matches(Certificate certificate, String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        int dot = lower.indexOf('.');
        return certificate.file().equals(name)
                || certificate.names().contains(lower)
                || (dot > 0 && certificate.names().contains("*" + lower.substring(dot)));
    }

    private static void writeAutomatic(JsonGenerator json, List<AutomaticCertificate> names) {
        json.writeArrayPropertyStart("automatic");
        for (AutomaticCertificate each : names) {
            json.writeStartObject();
            json.writeStringProperty("name", each.name());
            json.writeStringProperty("state", each.state());
            json.writeStringProperty("issuer", each.issuer());
            json.writeNumberProperty("not_after", each.notAfter());
            json.writeNumberProperty("renewal", each.renewal());
            json.writeNumberProperty("retry", each.retry());
            json.writeNumberProperty("failures", each.failures());
            json.writeStringProperty("problem", each.problem());
            json.writeNumberProperty("problem_since", each.problemSince());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    static void write(
            JsonGenerator json,
            long nowSeconds,
            int total,
            List<Certificate> certificates,
            List<Directory> directories) {
        json.writeNumberProperty("now", nowSeconds);
        json.writeNumberProperty("total", total);
        json.writeArrayPropertyStart("certificates");
        for (Certificate each : certificates) {
            json.writeStartObject();
            json.writeStringProperty("file", each.file());
            json.writeStringProperty("key", each.key());
            texts(json, "names", each.names());
            json.writeStringProperty("state", each.state());
            json.writeStringProperty("issuer", each.issuer());
            json.writeNumberProperty("not_before", each.notBefore());
            json.writeNumberProperty("not_after", each.notAfter());
            json.writeStringProperty("key_type", each.keyType());
            json.writeStringProperty("serial", each.serial());
            json.writeStringProperty("sha256", each.sha256());
            texts(json, "chain", each.chain());
            texts(json, "notes", each.notes());
            texts(json, "settings", each.settings());
            inForce(json, each.inForce());
            json.writeNumberProperty("loaded", each.loaded());
            json.writeStringProperty("problem", each.problem());
            json.writeNumberProperty("problem_since", each.problemSince());
            staple(json, each.staple());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayPropertyStart("directories");
        for (Directory each : directories) {
            json.writeStartObject();
            json.writeStringProperty("path", each.path());
            json.writeStringProperty("problem", each.problem());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void inForce(JsonGenerator json, List<Setting> settings) {
        json.writeArrayPropertyStart("in_force");
        for (Setting each : settings) {
            json.writeStartObject();
            json.writeStringProperty("name", each.name());
            json.writeStringProperty("value", each.value());
            json.writeStringProperty("source", each.source());
            json.writeStringProperty("address", each.address());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void staple(JsonGenerator json, Staple staple) {
        json.writeObjectPropertyStart("staple");
        json.writeStringProperty("state", staple.state());
        json.writeStringProperty("responder", staple.responder());
        json.writeBooleanProperty("required", staple.required());
        json.writeNumberProperty("until", staple.until());
        json.writeStringProperty("problem", staple.problem());
        json.writeNumberProperty("problem_since", staple.problemSince());
        json.writeEndObject();
    }

    private static void texts(JsonGenerator json, String name, List<String> texts) {
        json.writeArrayPropertyStart(name);
        for (String text : texts) {
            json.writeString(text);
        }
        json.writeEndArray();
    }
}
