package io.millrace.proxy.http;

/** What reading a request target gives: the target URI, or why the request has none (answer 400). */
public sealed interface TargetResult permits TargetUri, TargetProblem {}
