package io.millrace.proxy.http;

/** The result of parsing a request target: the target URI, or the reason why there is none (answered with 400). */
public sealed interface TargetResult permits TargetUri, TargetProblem {}
