{{/* Name of everything; a release called proctor gives short names. */}}
{{- define "proctor.name" -}}
{{- if contains "proctor" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-proctor" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels that select pods: (list root component). */}}
{{- define "proctor.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: proctor
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of an object: (list root component). */}}
{{- define "proctor.labels" -}}
{{- $root := index . 0 -}}
{{ include "proctor.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{- define "proctor.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "proctor.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "proctor.pullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where a component's pod may run. */}}
{{- define "proctor.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toYaml . | nindent 0 }}
{{- end }}
{{- with .affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* What the operator may do in the namespaces that it serves. */}}
{{- define "proctor.operatorRules" -}}
- apiGroups: [proctor.dev]
  resources: [evalruns]
  verbs: [get, list, watch, delete]
- apiGroups: [proctor.dev]
  resources: [evaltrials]
  verbs: [get, list, watch, create, patch]
- apiGroups: [proctor.dev]
  resources: [evalruns/status, evaltrials/status]
  verbs: [patch]
- apiGroups: [proctor.dev]
  resources: [evalruns/finalizers, evaltrials/finalizers]
  verbs: [update]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, create]
- apiGroups: [""]
  resources: [serviceaccounts, events]
  verbs: [create]
- apiGroups: [""]
  resources: [serviceaccounts]
  resourceNames: [proctor-trial]
  verbs: [get]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create, patch]
{{- end }}

{{/* What the gateway may read there: limits of trials, scripts. */}}
{{- define "proctor.gatewayRules" -}}
- apiGroups: [proctor.dev]
  resources: [evaltrials]
  verbs: [get]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get]
{{- end }}

{{/* What the results server may read there: whose record it is, what runs still need. */}}
{{- define "proctor.resultsRules" -}}
- apiGroups: [proctor.dev]
  resources: [evaltrials]
  verbs: [get]
- apiGroups: [proctor.dev]
  resources: [evalruns]
  verbs: [list]
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get]
{{- end }}

{{- define "proctor.uninstallRules" -}}
- apiGroups: [""]
  resources: [pods]
  verbs: [list, patch]
{{- end }}

{{/* A role and its binding in every place that is served: (dict root component rules hook). */}}
{{- define "proctor.roles" -}}
{{- $root := .root -}}
{{- $name := printf "%s-%s" (include "proctor.name" $root) .component -}}
{{- $labels := include "proctor.labels" (list $root .component) -}}
{{- $hook := .hook -}}
{{- $rules := include .rules $root -}}
{{- $clusterWide := empty $root.Values.watchNamespaces -}}
{{- $places := ternary (list "") $root.Values.watchNamespaces $clusterWide -}}
{{- range $place := $places }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "ClusterRole" "Role" $clusterWide }}
metadata:
  name: {{ $name }}
  {{- if not $clusterWide }}
  namespace: {{ $place }}
  {{- end }}
  labels: {{ $labels | nindent 4 }}
  {{- with $hook }}
  annotations: {{ . | nindent 4 }}
  {{- end }}
rules:
{{ $rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ ternary "ClusterRoleBinding" "RoleBinding" $clusterWide }}
metadata:
  name: {{ $name }}
  {{- if not $clusterWide }}
  namespace: {{ $place }}
  {{- end }}
  labels: {{ $labels | nindent 4 }}
  {{- with $hook }}
  annotations: {{ . | nindent 4 }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ ternary "ClusterRole" "Role" $clusterWide }}
  name: {{ $name }}
subjects:
- kind: ServiceAccount
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
{{- end }}
{{- end }}

{{- /* Refuse to turn over whether a StatefulSet that is there has a claim: (list root component value's-name is-persistent). */}}
{{- define "proctor.requireSameVolume" -}}
{{- $root := index . 0 }}
{{- $name := printf "%s-%s" (include "proctor.name" $root) (index . 1) }}
{{- $held := lookup "apps/v1" "StatefulSet" $root.Release.Namespace $name }}
{{- if $held }}
{{- $was := not (empty $held.spec.volumeClaimTemplates) }}
{{- if ne (index . 3) $was }}
{{- fail (printf "%s is %t, and the %s was installed with %t, which no upgrade can change. Leave it, or make it again: kubectl delete statefulset %s --namespace %s (what lies in an emptyDir goes with its pod; a claim stays)" (index . 2) (index . 3) (index . 1) $was $name $root.Release.Namespace) }}
{{- end }}
{{- end }}
{{- end }}
