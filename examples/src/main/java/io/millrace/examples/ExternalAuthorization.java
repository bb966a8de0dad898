package io.millrace.examples;

import io.millrace.proxy.spi.Answer;
import io.millrace.proxy.spi.Authorizer;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionConfigException;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.ExtensionCounter;
import io.millrace.proxy.spi.RequestHook;
import io.millrace.proxy.spi.RequestView;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Asks an HTTP service, for each bearer token (RFC 6750), whether the client may access the resource. The service gets
 * the token in Authorization, and the URL in X-Original-URL. Status 2xx permits the request, 401 and 403 refuse it. Any
 * other result is a failure, so that {@code on_error} decides. Results are remembered for a short time.
 *
 * <p>Thread-safe. The event loop never waits for the service.
 */
public final class ExternalAuthorization implements Extension, Authorizer {
    private static final int OK_MIN = 200;
    private static final int OK_MAX = 299;
    private static final int UNAUTHORIZED = 401;
    private static final int FORBIDDEN = 403;

    /** A question to the service. Equal questions have the same result for some time. */
    private record Question(String token, String host, String path) {}

    /**
     * A remembered result.
     *
     * @param status status of the service
     * @param untilNanos end of its validity, as {@link System#nanoTime}
     */
    private record Result(int status, long untilNanos) {}

    private final Map<Question, Result> results = new ConcurrentHashMap<>();
    private @Nullable HttpClient client;
    private URI service = URI.create("http://localhost/");
    private Duration timeout = Duration.ZERO;
    private long validNanos;
    private long resultsMax;
    private String realm = "";
    private @Nullable ExtensionCounter questions;

    /** Creates an extension that is not open. */
    public ExternalAuthorization() {}

    @Override
    public int apiVersion() {
        return Extension.API_VERSION;
    }

    @Override
    public String name() {
        return "external-authorization";
    }

    @Override
    public String version() {
        return "1";
    }

    @Override
    public void open(ExtensionContext context) throws ExtensionConfigException {
        ExtensionConfig config = context.config();
        try {
            service = URI.create(config.text("service"));
        } catch (IllegalArgumentException e) {
            throw config.problem("service", "is not a URL: " + e.getMessage());
        }
        if (service.getHost() == null) {
            throw config.problem("service", "is not a URL such as http://127.0.0.1:9090/check");
        }
        timeout = config.duration("timeout", Duration.ofSeconds(2));
        validNanos = config.duration("remember", Duration.ofSeconds(30)).toNanos();
        resultsMax = config.number("remember_max", 100_000, 1, 10_000_000);
        realm = config.text("realm", "millrace");
        config.rejectOtherKeys();
        questions = context.counter("questions");
        client = HttpClient.newBuilder()
                .executor(context.executor())
                .connectTimeout(timeout)
                .build();
    }

    @Override
    public void authorize(RequestView request, RequestHook.Reply reply) {
        String token = request.fields().get("Authorization");
        if (token == null || !token.regionMatches(true, 0, "Bearer ", 0, "Bearer ".length())) {
            reply.answer(refusal(UNAUTHORIZED, ""));
            return;
        }
        Question question = new Question(token, request.host(), request.path());
        Result known = results.get(question);
        if (known != null && known.untilNanos() - System.nanoTime() > 0) {
            decide(known.status(), reply);
            return;
        }
        CompletableFuture<Integer> answer = ask(question, request.scheme());
        answer.whenComplete((status, failure) -> {
            if (failure != null) {
                reply.fail(failure);
            } else {
                remember(question, status);
                decide(status, reply);
            }
        });
    }

    private CompletableFuture<Integer> ask(Question question, String scheme) {
        HttpClient sender = client;
        if (sender == null || questions == null) {
            return CompletableFuture.failedFuture(new IllegalStateException("not open"));
        }
        questions.increment();
        HttpRequest request = HttpRequest.newBuilder(service)
                .timeout(timeout)
                .header("Authorization", question.token())
                .header("X-Original-URL", scheme + "://" + question.host() + question.path())
                .build();
        return sender.sendAsync(request, HttpResponse.BodyHandlers.discarding()).thenApply(HttpResponse::statusCode);
    }

    /** Remembers a result of the service. If too many results are remembered, all are dropped. */
    private void remember(Question question, int status) {
        if (isDecision(status)) {
            if (results.size() >= resultsMax) {
                results.clear();
            }
            results.put(question, new Result(status, System.nanoTime() + validNanos));
        }
    }

    private static boolean isDecision(int status) {
        return (status >= OK_MIN && status <= OK_MAX) || status == UNAUTHORIZED || status == FORBIDDEN;
    }

    private void decide(int status, RequestHook.Reply reply) {
        if (!isDecision(status)) {
            reply.fail(new IllegalStateException("the service answered with status " + status));
        } else if (status == UNAUTHORIZED) {
            reply.answer(refusal(status, ", error=\"invalid_token\""));
        } else if (status == FORBIDDEN) {
            reply.answer(refusal(status, ", error=\"insufficient_scope\""));
        } else {
            reply.proceed();
        }
    }

    private Answer refusal(int status, String error) {
        return Answer.status(status)
                .field("WWW-Authenticate", "Bearer realm=\"" + realm + "\"" + error)
                .field("Cache-Control", "no-store")
                .body(status == UNAUTHORIZED ? "a valid token is required\n" : "the token does not permit this\n")
                .build();
    }

    @Override
    public void close() {
        results.clear();
    }
}
