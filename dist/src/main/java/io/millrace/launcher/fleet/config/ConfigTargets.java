package io.millrace.launcher.fleet.config;

import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Checks and applies revisions of the fleet's configuration on this node. Thread-safe. */
public interface ConfigTargets {
    /** Returns the revision in force; 0 for none. */
    long revision();

    /** Checks a revision together with the local file. Returns its errors, which begin with file and line. */
    CompletionStage<List<String>> check(Pushed pushed);

    /**
     * Applies a revision completely or not at all.
     *
     * @param revision number of the revision
     * @param pushed null to use only the local file
     * @return the reasons why it was rejected; empty if it is in force
     */
    CompletionStage<List<String>> apply(long revision, @Nullable Pushed pushed);
}
