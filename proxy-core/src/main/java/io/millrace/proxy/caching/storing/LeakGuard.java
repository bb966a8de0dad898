package io.millrace.proxy.caching.storing;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recognizes responses to a deceptive URL, such as an account page at {@code /account/x.css}. Some origins ignore
 * the end of a path. An attacker then sends a victim to a URL that looks like a static file, and later reads the
 * victim's page from the cache (web cache deception). Four facts together identify such a response:
 *
 * <ul>
 *   <li>The status is 200 or 203.
 *   <li>The path ends like a static file, and Content-Type is HTML or JSON.
 *   <li>The request had Cookie or Authorization, even if an access check has removed the field since; or an
 *       authorisation server has added fields that describe the user; or the response has Set-Cookie. A browser that
 *       follows a link sends no other credentials, so any other response is the same for all clients.
 *   <li>The origin does not permit shared storing by {@code public}, {@code s-maxage} or a targeted field (RFC 9111
 *       s3.5, RFC 9213), and does not vary by the credentials.
 * </ul>
 *
 * <p>Client certificates are not considered. Thread-safe: no state.
 */
public final class LeakGuard {
    /** Longest extension in {@link #STATIC}, in bytes. */
    private static final int EXTENSION_BYTES_MAX = 5;

    /**
     * Extensions of files that are neither HTML nor JSON. Extensions of content that applications often generate, such
     * as txt, xml, json and map, are not in the list.
     */
    private static final Set<String> STATIC = Set.of(
            // Styles and scripts.
            "css",
            "js",
            "mjs",
            // Images.
            "png",
            "jpg",
            "jpeg",
            "gif",
            "webp",
            "avif",
            "svg",
            "svgz",
            "ico",
            "bmp",
            "tif",
            "tiff",
            "eps",
            "pict",
            "heic",
            "jxl",
            "apng",
            // Fonts.
            "woff",
            "woff2",
            "ttf",
            "otf",
            "eot",
            // Sound and video.
            "mp3",
            "mp4",
            "m4a",
            "m4v",
            "ogg",
            "oga",
            "ogv",
            "opus",
            "webm",
            "wav",
            "flac",
            "aac",
            "avi",
            "mov",
            "mkv",
            "mpg",
            "mpeg",
            "mid",
            "midi",
            "wmv",
            "flv",
            "swf",
            "ts",
            "m3u8",
            "vtt",
            // Documents.
            "pdf",
            "ps",
            "doc",
            "docx",
            "xls",
            "xlsx",
            "ppt",
            "pptx",
            "odt",
            "ods",
            "odp",
            "rtf",
            "csv",
            "epub",
            // Archives and programs.
            "zip",
            "gz",
            "tgz",
            "bz2",
            "xz",
            "zst",
            "7z",
            "rar",
            "tar",
            "iso",
            "img",
            "dmg",
            "exe",
            "msi",
            "apk",
            "deb",
            "rpm",
            "jar",
            "war",
            "class",
            "bin",
            "wasm");

    private static final Set<String> SCRIPTS = Set.of("js", "mjs");

    private LeakGuard() {}

    /** Returns true if the response looks personal. The result does not depend on the level that is configured. */
    public static boolean finds(RequestHead request, ResponseHead response, CacheSettings settings) {
        return finds(
                request,
                response,
                CacheControl.ofResponse(response.fields(), settings.storing().targets()),
                settings);
    }

    static boolean finds(RequestHead request, ResponseHead response, CacheControl control, CacheSettings settings) {
        if (response.status() != 200 && response.status() != 203) {
            return false;
        }
        FieldSection fields = response.fields();
        boolean mayBePersonal = hasCredentials(request) || fields.contains(FieldName.SET_COOKIE);
        if (!mayBePersonal || isPermitted(control)) {
            return false;
        }
        String extension = staticExtension(request.target());
        return extension != null
                && contradicts(fields, SCRIPTS.contains(extension))
                && !isKeyed(request, fields, settings);
    }

    /**
     * Returns true if the request has credentials that a browser adds by itself, or had such credentials before an
     * access check.
     */
    public static boolean hasCredentials(RequestHead request) {
        return request.userFields() != null
                || request.fields().contains(FieldName.COOKIE)
                || request.fields().contains(FieldName.AUTHORIZATION);
    }

    private static boolean isPermitted(CacheControl control) {
        boolean targeted = control.isTargeted() && control.maxAgeSeconds() != CacheControl.ABSENT;
        return control.isPublic() || control.sharedMaxAgeSeconds() != CacheControl.ABSENT || targeted;
    }

    /** Returns true if the cache key contains all credentials of the request, by Vary or by {@code cache.key}. */
    private static boolean isKeyed(RequestHead head, FieldSection response, CacheSettings settings) {
        if (response.contains(FieldName.SET_COOKIE)) {
            return false;
        }
        Variance variance = settings.key().variance(response);
        FieldSection request = head.fields();
        FieldSection userFields = head.userFields();
        return (userFields == null || isUserKeyed(userFields, variance))
                && (!request.contains(FieldName.COOKIE) || variance.names().contains(FieldName.COOKIE))
                && (!request.contains(FieldName.AUTHORIZATION)
                        || variance.names().contains(FieldName.AUTHORIZATION));
    }

    /** Returns true if the cache key contains all fields that describe the user, and at least one such field exists. */
    private static boolean isUserKeyed(FieldSection userFields, Variance variance) {
        for (int line = 0; line < userFields.size(); line++) {
            int at = line;
            if (variance.names().stream().noneMatch(name -> userFields.isNamed(at, name))) {
                return false;
            }
        }
        return userFields.size() > 0;
    }

    /**
     * Returns the extension of the path, in lower case and without its dot, if it is that of a static file; null
     * otherwise. An encoded delimiter in front of the extension, as in {@code /account%3Bx.css}, does not matter.
     * Parameters after it are skipped, as in {@code /x.css;v=1}.
     */
    public static @Nullable String staticExtension(TargetUri target) {
        byte[] b = target.targetBytes();
        int end = target.pathEnd();
        String extension = staticExtension(b, target.pathStart(), end);
        if (extension != null) {
            return extension;
        }
        int parameters = -1;
        for (int i = end - 1; i >= target.pathStart() && b[i] != '/'; i--) {
            if (b[i] == ';') {
                parameters = i;
            }
        }
        return parameters < 0 ? null : staticExtension(b, target.pathStart(), parameters);
    }

    private static @Nullable String staticExtension(byte[] b, int start, int end) {
        int first = end;
        while (first > start && end - first <= EXTENSION_BYTES_MAX && b[first - 1] != '.' && b[first - 1] != '/') {
            first--;
        }
        if (first == start || b[first - 1] != '.') {
            return null;
        }
        String extension = new String(b, first, end - first, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
        return STATIC.contains(extension) ? extension : null;
    }

    /**
     * Returns true if Content-Type is HTML, or is JSON and the URL is not that of a script. Endpoints such as
     * {@code /cart.js} send JSON.
     */
    private static boolean contradicts(FieldSection fields, boolean isScript) {
        int line = fields.find(FieldName.CONTENT_TYPE);
        if (line < 0) {
            return false;
        }
        byte[] b = fields.bytes();
        int start = fields.valueStart(line);
        int end = fields.valueEnd(line);
        int slash = FieldLexer.skipToken(b, start, end);
        if (slash >= end || b[slash] != '/') {
            return false;
        }
        int subEnd = FieldLexer.skipToken(b, slash + 1, end);
        if (FieldLexer.equalsIgnoreCase(b, start, slash, "text")) {
            return FieldLexer.equalsIgnoreCase(b, slash + 1, subEnd, "html");
        }
        if (!FieldLexer.equalsIgnoreCase(b, start, slash, "application")) {
            return false;
        }
        int json = subEnd - "json".length();
        boolean isJson = json > slash
                && FieldLexer.equalsIgnoreCase(b, json, subEnd, "json")
                && (json == slash + 1 || b[json - 1] == '+');
        return FieldLexer.equalsIgnoreCase(b, slash + 1, subEnd, "xhtml+xml") || (isJson && !isScript);
    }
}
