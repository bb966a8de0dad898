package io.millrace.proxy.http;

/**
 * The head of a request as it came from the client: method, target URI, version and fields. Immutable when its field
 * section is.
 */
public final class RequestHead {

    private final Method method;
    private final String methodName;
    private final TargetUri target;
    private final int minorVersion;
    private final boolean http2;
    private final FieldSection fields;

    private RequestHead(
            Method method, String methodName, TargetUri target, int minorVersion, boolean http2, FieldSection fields) {
        this.method = method;
        this.methodName = methodName;
        this.target = target;
        this.minorVersion = minorVersion;
        this.http2 = http2;
        this.fields = fields;
    }

    /** The head of an HTTP/1.1 request (or of a later version, which decides like it). */
    public static RequestHead of(CharSequence methodName, TargetUri target, FieldSection fields) {
        return of(methodName, target, 1, fields);
    }

    /** The head of an HTTP/1.{@code minorVersion} request. */
    public static RequestHead of(CharSequence methodName, TargetUri target, int minorVersion, FieldSection fields) {
        Method method = Method.of(methodName);
        String name = method == Method.OTHER ? methodName.toString() : method.name();
        return new RequestHead(method, name, target, minorVersion, false, fields);
    }

    /** The head of an HTTP/1.{@code minorVersion} request with one of the named methods, not {@link Method#OTHER}. */
    public static RequestHead of(Method method, TargetUri target, int minorVersion, FieldSection fields) {
        assert method != Method.OTHER : "a method of another name needs its name";
        return new RequestHead(method, method.name(), target, minorVersion, false, fields);
    }

    /** The head of a request of HTTP/2, which decides like one of HTTP/1.1. */
    public static RequestHead ofHttp2(CharSequence methodName, TargetUri target, FieldSection fields) {
        Method method = Method.of(methodName);
        String name = method == Method.OTHER ? methodName.toString() : method.name();
        return new RequestHead(method, name, target, 1, true, fields);
    }

    /** The head of a request of HTTP/2 with one of the named methods, not {@link Method#OTHER}. */
    public static RequestHead ofHttp2(Method method, TargetUri target, FieldSection fields) {
        assert method != Method.OTHER : "a method of another name needs its name";
        return new RequestHead(method, method.name(), target, 1, true, fields);
    }

    public Method method() {
        return method;
    }

    /** The method as it was spelled. */
    public String methodName() {
        return methodName;
    }

    /** What the request is about: the URL that the client asked for, before any remapping. */
    public TargetUri target() {
        return target;
    }

    /** The minor version of HTTP/1: 0 or 1; 1 for later major versions. */
    public int minorVersion() {
        return minorVersion;
    }

    /** The version as a number that grows with it: 0 for HTTP/1.0, 1 for HTTP/1.1, 2 for HTTP/2. */
    public int version() {
        return http2 ? 2 : minorVersion;
    }

    /** Whether it came by HTTP/2. */
    public boolean isHttp2() {
        return http2;
    }

    public FieldSection fields() {
        return fields;
    }

    /** The request line, for messages to people. */
    @Override
    public String toString() {
        return methodName + " " + target.asString() + (http2 ? " HTTP/2" : " HTTP/1." + minorVersion);
    }
}
