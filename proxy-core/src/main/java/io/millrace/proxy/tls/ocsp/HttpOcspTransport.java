package io.millrace.proxy.tls.ocsp;

import io.millrace.proxy.tls.ocsp.OcspFault.Kind;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends OCSP requests by POST over HTTP/1.1 (RFC 6960 appendix A). Does not follow redirects. The threads of the
 * JDK's HTTP client start with the first request.
 */
final class HttpOcspTransport implements OcspTransport {
    /** Limit of an answer in bytes. Usual answers have 1 to 4 KiB. */
    static final int ANSWER_BYTES_MAX = 64 * 1024;

    private final long timeoutMillis;
    private volatile @Nullable HttpClient client;

    /**
     * @param timeoutMillis time limit of a request, including the response body
     */
    HttpOcspTransport(long timeoutMillis) {
        this.timeoutMillis = timeoutMillis;
    }

    /**
     * Returns the HTTP client, created at the first call. Two threads may create a client at the same time; one of the
     * two clients is then dropped.
     */
    private HttpClient client() {
        HttpClient known = client;
        if (known == null) {
            known = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .followRedirects(HttpClient.Redirect.NEVER)
                    .connectTimeout(Duration.ofMillis(timeoutMillis))
                    .build();
            client = known;
        }
        return known;
    }

    @Override
    public CompletableFuture<byte[]> post(String responder, byte[] request) {
        HttpRequest post;
        try {
            post = HttpRequest.newBuilder(URI.create(responder))
                    .header("Content-Type", "application/ocsp-request")
                    .header("Accept", "application/ocsp-response")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(request))
                    .build();
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(
                    new OcspFault(Kind.UNREACHABLE, "the responder's URL in the certificate is not valid"));
        }
        CompletableFuture<HttpResponse<byte[]>> exchange = client().sendAsync(post, head -> new LimitedBody());
        // The timeouts of the JDK's client do not cover the body, so the future has a timeout. It is set on a copy
        // of the future: a timeout completes its future, and a completed future cannot cancel the exchange.
        return exchange.copy().orTimeout(timeoutMillis, TimeUnit.MILLISECONDS).handle((response, failure) -> {
            if (failure != null) {
                exchange.cancel(true);
                throw new CompletionException(fault(failure));
            }
            if (response.statusCode() != 200) {
                throw new CompletionException(
                        new OcspFault(Kind.UNREACHABLE, "the responder answers with status " + response.statusCode()));
            }
            return response.body();
        });
    }

    private OcspFault fault(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof OcspFault known) {
                return known;
            }
            if (cause instanceof TimeoutException) {
                return new OcspFault(Kind.UNREACHABLE, "no answer within " + timeoutMillis / 1000 + " s");
            }
        }
        Throwable last = failure;
        while (last instanceof CompletionException && last.getCause() != null) {
            last = last.getCause();
        }
        String text = last.getMessage();
        return new OcspFault(
                Kind.UNREACHABLE,
                "no connection: " + (text == null ? last.getClass().getSimpleName() : text));
    }

    /** Collects a response body. Cancels the exchange if the body exceeds the limit. */
    private static final class LimitedBody implements BodySubscriber<byte[]> {
        private final CompletableFuture<byte[]> body = new CompletableFuture<>();
        private byte[] bytes = new byte[2048];
        private int length;
        private @Nullable Subscription subscription;

        @Override
        public CompletionStage<byte[]> getBody() {
            return body;
        }

        @Override
        public void onSubscribe(Subscription made) {
            subscription = made;
            made.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            for (ByteBuffer each : buffers) {
                int more = each.remaining();
                if (length + more > ANSWER_BYTES_MAX) {
                    if (subscription != null) {
                        subscription.cancel();
                    }
                    body.completeExceptionally(new OcspFault(
                            Kind.MALFORMED, "the answer is longer than " + ANSWER_BYTES_MAX / 1024 + " KiB"));
                    return;
                }
                if (length + more > bytes.length) {
                    bytes = Arrays.copyOf(bytes, Math.max(length + more, bytes.length * 2));
                }
                each.get(bytes, length, more);
                length += more;
            }
        }

        @Override
        public void onError(Throwable failure) {
            body.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            body.complete(Arrays.copyOf(bytes, length));
        }
    }
}
