package io.millrace.proxy.http;

import org.jspecify.annotations.Nullable;

/**
 * The head of a request as received from the client: method, target URI, version and fields. Immutable if its field
 * section is immutable.
 */
public final class RequestHead {

    private final Method method;
    private final String methodName;
    private final TargetUri target;
    private final int minorVersion;
    private final boolean http2;
    private final FieldSection fields;
    private final @Nullable FieldSection userFields;

    private RequestHead(
            Method method,
            String methodName,
            TargetUri target,
            int minorVersion,
            boolean http2,
            FieldSection fields,
            @Nullable FieldSection userFields) {
        this.method = method;
        this.methodName = methodName;
        this.target = target;
        this.minorVersion = minorVersion;
        this.http2 = http2;
        this.fields = fields;
        this.userFields = userFields;
    }

    /** Creates the head of an HTTP/1.1 request, or of one with a later minor version, which is treated alike. */
    public static RequestHead of(CharSequence methodName, TargetUri target, FieldSection fields) {
        return of(methodName, target, 1, fields);
    }

    /** Creates the head of an HTTP/1.{@code minorVersion} request. */
    public static RequestHead of(CharSequence methodName, TargetUri target, int minorVersion, FieldSection fields) {
        Method method = Method.of(methodName);
        String name = method == Method.OTHER ? methodName.toString() : method.name();
        return new RequestHead(method, name, target, minorVersion, false, fields, null);
    }

    /** Creates the head of an HTTP/1.{@code minorVersion} request with a method other than {@link Method#OTHER}. */
    public static RequestHead of(Method method, TargetUri target, int minorVersion, FieldSection fields) {
        assert method != Method.OTHER : "Method.OTHER needs the name of the method";
        return new RequestHead(method, method.name(), target, minorVersion, false, fields, null);
    }

    /** Creates the head of an HTTP/2 request, which is processed like HTTP/1.1. */
    public static RequestHead ofHttp2(CharSequence methodName, TargetUri target, FieldSection fields) {
        Method method = Method.of(methodName);
        String name = method == Method.OTHER ? methodName.toString() : method.name();
        return new RequestHead(method, name, target, 1, true, fields, null);
    }

    /** Creates the head of an HTTP/2 request with a method other than {@link Method#OTHER}. */
    public static RequestHead ofHttp2(Method method, TargetUri target, FieldSection fields) {
        assert method != Method.OTHER : "Method.OTHER needs the name of the method";
        return new RequestHead(method, method.name(), target, 1, true, fields, null);
    }

    /** Returns this head with another target and other fields. */
    public RequestHead with(TargetUri otherTarget, FieldSection otherFields) {
        return new RequestHead(method, methodName, otherTarget, minorVersion, http2, otherFields, userFields);
    }

    /**
     * Returns this head for a user whose credentials this proxy has removed or replaced.
     *
     * @param fieldsOfUser the request fields for the origin that describe the user; empty for none
     */
    public RequestHead ofUser(FieldSection fieldsOfUser) {
        return new RequestHead(method, methodName, target, minorVersion, http2, fields, fieldsOfUser);
    }

    /**
     * The request fields that tell the origin who the user is, in place of the credentials that this proxy has removed.
     * Null if this proxy has removed no credentials and set no such fields.
     */
    public @Nullable FieldSection userFields() {
        return userFields;
    }

    public Method method() {
        return method;
    }

    /** The name of the method in its original spelling. */
    public String methodName() {
        return methodName;
    }

    /** The target URI: the URL that the client requested, before any remapping. */
    public TargetUri target() {
        return target;
    }

    /** The minor version of HTTP/1: 0 or 1. For HTTP/2 it is 1. */
    public int minorVersion() {
        return minorVersion;
    }

    /** The version as an ascending number: 0 for HTTP/1.0, 1 for HTTP/1.1, 2 for HTTP/2. */
    public int version() {
        return http2 ? 2 : minorVersion;
    }

    /** Returns true if the request was received over HTTP/2. */
    public boolean isHttp2() {
        return http2;
    }

    public FieldSection fields() {
        return fields;
    }

    /** Returns the request line, for messages. */
    @Override
    public String toString() {
        return methodName + " " + target.asString() + (http2 ? " HTTP/2" : " HTTP/1." + minorVersion);
    }
}
