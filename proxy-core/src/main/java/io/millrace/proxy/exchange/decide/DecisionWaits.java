package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.acme.ChallengeAnswers;
import io.millrace.proxy.exchange.settings.DecisionInputs;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.netty.util.concurrent.EventExecutor;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The steps for which one request may wait before it is decided: the answer to an ACME challenge, a check of
 * credentials, or a hook of an extension. After each step, the request is decided again, except when the answer to a
 * challenge was found. The parameter {@code resume} of each method receives the function that decides again.
 *
 * <p>Confined to the client stream's event loop.
 */
public final class DecisionWaits {
    private final DecisionInputs shared;
    private final EventExecutor loop;
    private final ClientConnection client;
    private final RequestHead request;
    private final long contentLength;

    public DecisionWaits(
            DecisionInputs shared,
            EventExecutor loop,
            ClientConnection client,
            RequestHead request,
            long contentLength) {
        this.shared = shared;
        this.loop = loop;
        this.client = client;
        this.request = request;
        this.contentLength = contentLength;
    }

    /**
     * Reads the answer to an ACME challenge off the event loop. If there is no answer, the request is processed like
     * any other.
     *
     * @param ended supplies true if the request has ended
     * @param found receives the answer to the challenge
     */
    public void challenge(
            BooleanSupplier ended, Consumer<String> found, Consumer<Function<RequestDecider, Decision>> resume) {
        ChallengeAnswers challenges = shared.settings().get().challenges();
        if (challenges == null) {
            unknownChallenge(resume);
        } else {
            challenges.find(request.target().path(), loop, text -> {
                if (text == null) {
                    unknownChallenge(resume);
                } else if (!ended.getAsBoolean()) {
                    found.accept(text);
                }
            });
        }
    }

    private void unknownChallenge(Consumer<Function<RequestDecider, Decision>> resume) {
        resume.accept(decider -> decider.decideWithoutAcme(request, contentLength, client));
    }

    /** Checks the credentials of the request off the event loop. */
    public void credentials(Decision next, Consumer<Function<RequestDecider, Decision>> resume) {
        next.credentialCheck()
                .begin(
                        loop,
                        result -> resume.accept(
                                decider -> decider.decideChecked(request, contentLength, client, result, next)));
    }

    /** Waits for a hook of an extension. */
    public void hook(Decision next, Consumer<Function<RequestDecider, Decision>> resume) {
        RequestHooks hooks = Objects.requireNonNull(next.hooks());
        hooks.await(loop, () -> resume.accept(decider -> decider.decideAgain(request, contentLength, client, next)));
    }
}
