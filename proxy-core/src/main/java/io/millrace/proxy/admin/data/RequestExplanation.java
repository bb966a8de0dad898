package io.millrace.proxy.admin.data;

import io.millrace.proxy.admin.cache.ExplainSource;
import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.exchange.decide.DryRunResult;
import io.millrace.proxy.explain.ExplanationText;
import io.millrace.proxy.explain.OversizedRequest;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldNames;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetResult;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.Listener;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Explains a request by a dry run on the first event loop, and returns the result as text.
 *
 * <p>Thread-safe.
 */
public final class RequestExplanation implements ExplainSource {
    /** Fields that make a request of HTTP/2 malformed (RFC 9113 section 8.2.2). */
    private static final FieldNames CONNECTION_SPECIFIC = FieldNames.of(
            FieldName.CONNECTION,
            FieldName.PROXY_CONNECTION,
            FieldName.KEEP_ALIVE,
            FieldName.TRANSFER_ENCODING,
            FieldName.UPGRADE);

    private final ProxyView proxy;

    public RequestExplanation(ProxyView proxy) {
        this.proxy = proxy;
    }

    @Override
    public CompletionStage<Explanation> explain(Question question) {
        try {
            RequestHead request = request(question);
            ClientConnection client = client(question, request.target());
            long contentLength = contentLength(request.fields());
            OversizedRequest oversized = OversizedRequest.of(proxy.config(), question, request, contentLength);
            if (oversized != null) {
                return CompletableFuture.completedFuture(oversized.explanation(request, client));
            }
            ServingLoop loop = proxy.loops().get(0);
            return CompletableFuture.supplyAsync(
                            () -> loop.exchanges().dryRun(request, contentLength, client), loop.loop())
                    .thenCompose(dryRun -> dryRun)
                    .thenApply(dryRun -> text(request, client, dryRun));
        } catch (AdminException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private Explanation text(RequestHead request, ClientConnection client, DryRunResult dryRun) {
        long nowMillis = proxy.shared().clock().millis();
        return new ExplanationText(proxy.config(), request, client, dryRun, nowMillis).explanation();
    }

    private static RequestHead request(Question question) throws AdminException {
        TargetResult parsedUrl = TargetUri.parseAbsolute(question.url());
        if (!(parsedUrl instanceof TargetUri url)) {
            throw DataPlaneAdmin.notUrl(question.url());
        }
        Method method = Method.of(question.method());
        if (method.isPurge()) {
            throw bad(question.method() + " is not a request for content: see docs/guide/purging.md");
        }
        byte[] name = question.method().getBytes(StandardCharsets.UTF_8);
        if (!FieldLexer.isToken(name, 0, name.length)) {
            throw bad("not a method: " + question.method());
        }
        FieldSection.Builder builder = FieldSection.builder();
        builder.add("Host", url.authority());
        for (LookupSource.Field field : question.fields()) {
            if (field.name().equalsIgnoreCase("Host")) {
                throw bad("the URL names the host: leave the header field Host out");
            }
            if (question.http2() && CONNECTION_SPECIFIC.contains(FieldName.of(field.name()))) {
                throw bad("HTTP/2 has no field " + field.name() + ": its stream would be reset (PROTOCOL_ERROR)");
            }
            builder.add(field.name(), field.value());
        }
        FieldSection fields = builder.build();
        String target = method == Method.CONNECT
                ? url.host() + ":" + url.port()
                : question.toProxy() ? url.asString() : url.pathAndQuery();
        TargetResult parsed = TargetUri.parse(method, target, fields, 1, url.isSecure());
        if (!(parsed instanceof TargetUri requestTarget)) {
            throw DataPlaneAdmin.notUrl(question.url());
        }
        return question.http2()
                ? RequestHead.ofHttp2(question.method(), requestTarget, fields)
                : RequestHead.of(question.method(), requestTarget, fields);
    }

    private static AdminException bad(String message) {
        return new AdminException(400, "bad-request", message);
    }

    private static long contentLength(FieldSection fields) throws AdminException {
        if (fields.contains(FieldName.TRANSFER_ENCODING)) {
            return RequestReceiver.CHUNKED;
        }
        String length = fields.get(FieldName.CONTENT_LENGTH);
        try {
            return length == null ? 0 : Long.parseUnsignedLong(length);
        } catch (NumberFormatException e) {
            throw bad("Content-Length is not a number: " + length);
        }
    }

    /** Returns the connection of the request: by default from loopback, to the first listener of its scheme. */
    private ClientConnection client(Question question, TargetUri url) throws AdminException {
        InetSocketAddress local = new InetSocketAddress(InetAddress.getLoopbackAddress(), url.port());
        boolean found = false;
        // A client of a forward proxy sends an https URL in clear text if the proxy has only listeners without TLS.
        boolean secure = url.isSecure() && (!question.toProxy() || hasListener(true) || !hasListener(false));
        boolean wantsTls = secure;
        for (Listener listener : proxy.listeners()) {
            boolean matches = question.port() == 0
                    ? listener.secure() == wantsTls
                    : listener.localAddress().getPort() == question.port();
            if (matches && !found) {
                found = true;
                secure = listener.secure();
                local = listener.localAddress().getAddress().isAnyLocalAddress() && !listener.isUnix()
                        ? new InetSocketAddress(
                                InetAddress.getLoopbackAddress(),
                                listener.localAddress().getPort())
                        : listener.localAddress();
            }
        }
        if (question.port() != 0 && !found) {
            throw bad("this proxy does not listen on port " + question.port());
        }
        if (!question.toProxy() && secure != url.isSecure()) {
            throw bad("port " + question.port() + (secure ? " speaks TLS, so" : " does not speak TLS, so")
                    + " it accepts a request for the scheme " + url.scheme() + " only in absolute form (to_proxy)");
        }
        return new ClientConnection(new InetSocketAddress(remote(question), 0), local, secure);
    }

    private boolean hasListener(boolean secure) {
        return proxy.listeners().stream().anyMatch(listener -> listener.secure() == secure);
    }

    private static InetAddress remote(Question question) throws AdminException {
        String client = question.client();
        if (client == null) {
            return InetAddress.getLoopbackAddress();
        }
        if (client.equals(ListenAddress.UNIX)) {
            return ClientConnection.UNIX.getAddress();
        }
        byte[] address = NetUtil.createByteArrayFromIpAddressString(client);
        if (address == null) {
            throw bad("not an IP address: " + client);
        }
        try {
            return InetAddress.getByAddress(address);
        } catch (UnknownHostException e) {
            throw bad("not an IP address: " + client);
        }
    }
}
