package io.millrace.proxy.exchange;

import io.millrace.proxy.acme.ChallengeAnswers;
import io.millrace.proxy.exchange.decide.Decision;
import io.millrace.proxy.exchange.decide.RequestDecider;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientStream;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The waits of one request before it is decided: for the answer to an ACME challenge, a check of credentials, or
 * a hook of an extension. After each, the request is decided again.
 *
 * <p>Confined to the client stream's event loop.
 */
final class DecisionWaits {
    private final ExchangeLoop exchangeLoop;
    private final ClientStream stream;
    private final RequestHead request;
    private final long contentLength;

    DecisionWaits(ExchangeLoop exchangeLoop, ClientStream stream, RequestHead request, long contentLength) {
        this.exchangeLoop = exchangeLoop;
        this.stream = stream;
        this.request = request;
        this.contentLength = contentLength;
    }

    /**
     * Reads the answer to an ACME challenge off the event loop. If there is no answer, the request is processed like
     * any other.
     *
     * @param ended returns true if the request has ended
     * @param found gets the answer
     */
    void challenge(BooleanSupplier ended, Consumer<String> found, Consumer<Function<RequestDecider, Decision>> resume) {
        ChallengeAnswers challenges = exchangeLoop.settings().challenges();
        if (challenges == null) {
            unknownChallenge(resume);
        } else {
            challenges.find(request.target().path(), stream.eventLoop(), text -> {
                if (text == null) {
                    unknownChallenge(resume);
                } else if (!ended.getAsBoolean()) {
                    found.accept(text);
                }
            });
        }
    }

    private void unknownChallenge(Consumer<Function<RequestDecider, Decision>> resume) {
        resume.accept(decider -> decider.decidePastChallenges(request, contentLength, stream.connection()));
    }

    /** Checks the credentials of the request off the event loop. */
    void credentials(Decision next, Consumer<Function<RequestDecider, Decision>> resume) {
        RequestHooks called = next.hooks();
        next.credentialCheck()
                .begin(
                        stream.eventLoop(),
                        result -> resume.accept(decider ->
                                decider.decideChecked(request, contentLength, stream.connection(), result, called)));
    }

    /** Waits for a hook of an extension. */
    void hook(Decision next, Consumer<Function<RequestDecider, Decision>> resume) {
        RequestHooks hooks = Objects.requireNonNull(next.hooks());
        hooks.await(
                stream.eventLoop(),
                () -> resume.accept(
                        decider -> decider.decideAgain(request, contentLength, stream.connection(), hooks)));
    }
}
